/**
 * An index beside the feed, kept up to date while the server listens. Each step is one transaction: the changes, and the new position. Records after the
 * position come first, because a redaction must reach the index within a second; a new or rebuilt index adds the current state between them.
 */
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../database/pool.ts';
import { type Db, transaction } from '../database/transaction.ts';
import { isResourceType, type NamedResource, resourceKey } from '../lib/feed/resource.ts';
import { isRecord, type JsonObject } from '../lib/json/json-value.ts';
import { Problem } from '../lib/problem.ts';
import { percentOf, progressText } from '../lib/progress.ts';
import { platformProblems } from '../plugins/problems.ts';
import {
  FEED_STATE,
  type FeedState,
  joinRecord,
  readAfter,
  readFeedRow,
  readSnapshot,
  type StoredRecord,
  toFeedState,
} from './store/records.ts';

/** Rows that one step of `begin` removes from a table, well within the statement timeout. */
export const MOST_REMOVED = 5_000;

export interface FeedChange extends NamedResource {
  readonly sequenceNumber: number;
  readonly storedAt: Date;
  /** Absent: the resource was removed. */
  readonly data: JsonObject | undefined;
}

/** An index in a schema of its own, which has a table `position` with one row. */
export interface FeedIndex {
  readonly schema: string;
  /** Records of one step: few, so that no step holds its rows for long. */
  readonly stepRecords: number;
  /** Applies changes, at most one of each resource. */
  readonly write: (db: Db, changes: readonly FeedChange[]) => Promise<void>;
  /** Removes everything before the current state is read from the beginning, a bounded part in each step; true when all is gone. */
  readonly begin: (db: Db) => Promise<boolean>;
  /** With each record's number in `number`: it keeps answering while the current state is read again. Absent: the index answers once it has caught up. */
  readonly table?: string;
}

interface IndexPosition {
  /** Empty: of no feed yet. */
  readonly feedId: string;
  readonly number: number;
  /** The current state has been applied up to the first of these numbers, of all up to the second. */
  readonly scanAfter: number;
  readonly scanTo: number;
}

const select = (schema: string): string =>
  `select feed_id as "feedId", number, scan_after as "scanAfter", scan_to as "scanTo" from ${schema}.position`;

/** Records that an index may be behind without being reported. */
const BEHIND = 1000;

/** `read` of `of` numbers; equal: it is up to date, or nearly so. It cannot answer while it lacks records that the feed has had for longer. */
async function readIndexProgress(db: Db, { schema, table }: FeedIndex) {
  const isOver =
    table === undefined
      ? 'false'
      : `exists (select from ${schema}.${table} t where t.number > p."scanAfter" and t.number <= p."scanTo")`;
  const { rows } = await db.query<IndexPosition & { state: string; isOver: boolean }>({
    name: `${schema}-progress`,
    text: `select p.*, f.state, ${isOver} as "isOver"
             from (${select(schema)}) p, (select ${FEED_STATE} as state from raadsfeed.feed) f`,
  });
  const [found] = rows;
  if (found === undefined) throw new Error(`${schema}.position has no row; was the database migrated?`);
  const state = toFeedState(found.state);
  const of = state.head.sequenceNumber;
  if (isOfAnother(found, state)) return { read: 0, of, canAnswer: of === 0 };
  if (found.scanAfter < found.scanTo) return { read: found.scanAfter, of: found.scanTo, canAnswer: found.isOver };
  return { read: found.number + BEHIND < of ? found.number : of, of, canAnswer: true };
}

/** Whether an index belongs to another feed, to a backup restored since, or to history that was pruned before it was read. */
function isOfAnother({ feedId, number }: IndexPosition, state: FeedState): boolean {
  return feedId !== state.feedId || number > state.head.sequenceNumber || number < state.historyAfter.sequenceNumber;
}

/** Applies the next records. @returns the outcome: `busy` when another process does it */
export async function followFeed(pool: Pool, index: FeedIndex): Promise<'changed' | 'done' | 'busy'> {
  const { schema, stepRecords, write } = index;
  return await transaction(pool, async (db) => {
    const { rows } = await db.query<IndexPosition>({
      name: `${schema}-position-lock`,
      text: `${select(schema)} for update skip locked`,
    });
    const [found] = rows;
    if (found === undefined) return 'busy';
    const feed = await readFeedRow(db);
    const top = feed.head.sequenceNumber;
    if (isOfAnother(found, feed)) {
      // From the current state.
      const isEmpty = await index.begin(db);
      if (isEmpty) await move(db, schema, { feedId: feed.feedId, number: top, scanAfter: 0, scanTo: top });
    } else if (found.number < top) {
      const { records } = await readAfter(db, found.number, stepRecords, {});
      await write(db, lastChanges(records));
      await move(db, schema, { ...found, number: found.number + records.length });
    } else if (found.scanAfter < found.scanTo) {
      const { records, isAll } = await readSnapshot(db, found.scanAfter, found.scanTo, stepRecords, {});
      const last = records.at(-1)?.sequenceNumber ?? found.scanTo;
      await write(db, lastChanges(records));
      await move(db, schema, { ...found, scanAfter: isAll ? found.scanTo : last });
    } else return 'done';
    return 'changed';
  });
}

function lastChanges(records: readonly StoredRecord[]): FeedChange[] {
  const changes = records.map(toChange);
  return [...new Map(changes.map((change) => [resourceKey(change), change])).values()];
}

function toChange(stored: StoredRecord): FeedChange {
  const record: unknown = JSON.parse(joinRecord(stored, ''));
  if (!isRecord(record) || !isRecord(record.resource) || !isResourceType(record.resourceType)) {
    throw new Error(`record ${stored.sequenceNumber} of the feed cannot be read`);
  }
  const { resourceType, storedAt, data } = record;
  const { organisatiecode, bronidentificatie } = record.resource;
  return {
    sequenceNumber: stored.sequenceNumber,
    resourceType,
    storedAt: new Date(String(storedAt)),
    resource: { organisatiecode: String(organisatiecode), bronidentificatie: String(bronidentificatie) },
    data: record.op === 'upsert' && isRecord(data) ? data : undefined,
  };
}

async function move(db: Db, schema: string, { feedId, number, scanAfter, scanTo }: IndexPosition): Promise<void> {
  await db.query({
    name: `${schema}-position-move`,
    text: `update ${schema}.position set feed_id = $1::text, number = $2::bigint, scan_after = $3::bigint, scan_to = $4::bigint`,
    values: [feedId, number, scanAfter, scanTo],
  });
}

/** Reading a large feed takes minutes. */
const RETRY_SECONDS = '60';

/** Checks before a read from an index. @throws {Problem} 503 while it lacks older records of the feed */
export type RequireIndex = () => Promise<void>;

export function serveIndex(app: FastifyInstance, name: string, index: FeedIndex): RequireIndex {
  const { pool, publicPool } = app.database;
  const failing = app.feed.follow(`the ${name}`, () => followFeed(pool, index));
  app.readiness.push({
    name,
    vital: false,
    check: async () => {
      const { read, of } = await readIndexProgress(pool, index);
      const told = [failing.text() ?? '', read < of ? progressText(read, of) : ''].filter((text) => text !== '');
      return { ok: true, ...(told.length > 0 && { warning: told.join('; ') }) };
    },
  });
  return async () => {
    const { read, of, canAnswer } = await readIndexProgress(publicPool, index);
    if (canAnswer) return;
    throw new Problem(platformProblems.unavailable, {
      detail: `De raadsinformatie wordt opnieuw ingelezen; ${percentOf(read, of)} % is klaar.`,
      headers: { 'retry-after': RETRY_SECONDS },
    });
  };
}
