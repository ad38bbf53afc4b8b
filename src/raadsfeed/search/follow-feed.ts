/**
 * Keeps the index up with the feed. Each step is one transaction: the changes, and how far the index has come. The records after the
 * position come first, because a redaction must reach the index within a second; the current state of a feed that is new to the index, or
 * that is indexed anew, is taken in between them.
 */
import type { Pool } from '../../kernel/database/pool.ts';
import { type Db, transaction } from '../../kernel/database/transaction.ts';
import { isRecord } from '../../kernel/json-value.ts';
import type { Logger } from '../../kernel/log.ts';
import { joinRecord } from '../domain/record-text.ts';
import { isResourceType } from '../domain/resource.ts';
import type { HeadCache } from '../feed/head.ts';
import { readFeedHead } from '../store/feed-row.ts';
import { readRange } from '../store/read-log.ts';
import { readSnapshot } from '../store/read-texts.ts';
import { toEntry } from './entry.ts';
import { type IndexChange, writeIndex } from './write-index.ts';

/** Records of one step: small, so that no step holds its rows for long. */
const STEP_RECORDS = 500;

interface Position {
  readonly feedId: string;
  readonly nummer: number;
  readonly scanNa: number;
  readonly scanTot: number;
}

const POSITION = `select feed_id as "feedId", nummer, scan_na as "scanNa", scan_tot as "scanTot" from raadsfeed_zoek.positie`;

/** How far the index is. */
export interface IndexState {
  /** Number of the last record that was taken in. */
  readonly position: number;
  /** Records of the current state that are still to be taken in: an upper bound. */
  readonly toScan: number;
}

export async function readIndexState(db: Db): Promise<IndexState> {
  const { rows } = await db.query<Position>({ name: 'raadsfeed-zoek-stand', text: POSITION });
  const [found] = rows;
  return { position: found?.nummer ?? 0, toScan: found === undefined ? 0 : found.scanTot - found.scanNa };
}

/**
 * Takes the next records in.
 * @returns what there was to do: `busy` when another process does it
 */
export async function followStep(pool: Pool): Promise<'changed' | 'done' | 'busy'> {
  return await transaction(pool, async (db) => {
    const { rows } = await db.query<Position>({
      name: 'raadsfeed-zoek-slot',
      text: `${POSITION} for update skip locked`,
    });
    const [found] = rows;
    if (found === undefined) return 'busy';
    const head = await readFeedHead(db);
    const top = head.head.sequenceNumber;
    // Another feed, a restored backup, or history that was pruned before it was read: from the current state.
    if (found.feedId !== head.feedId || found.nummer > top || found.nummer < head.historyAfter.sequenceNumber) {
      await begin(db, head.feedId, top);
      return top === 0 ? 'done' : 'changed';
    }
    if (found.nummer < top) {
      const { records } = await readRange(db, found.nummer, STEP_RECORDS, '');
      await writeIndex(db, records.map(toChange));
      await move(db, { ...found, nummer: found.nummer + records.length });
      return 'changed';
    }
    if (found.scanNa < found.scanTot) {
      const { records, isAll } = await readSnapshot(db, found.scanNa, found.scanTot, STEP_RECORDS, {});
      const last = records.at(-1)?.sequenceNumber ?? found.scanTot;
      await writeIndex(
        db,
        records.map((record) => toChange(joinRecord(record, ''))),
      );
      await move(db, { ...found, scanNa: isAll ? found.scanTot : last });
      if (isAll) await dropStrays(db);
      return 'changed';
    }
    return 'done';
  });
}

async function begin(db: Db, feedId: string, top: number): Promise<void> {
  await db.query(`delete from raadsfeed_zoek.stuk`);
  await db.query(`delete from raadsfeed_zoek.verwijzing`);
  await move(db, { feedId, nummer: top, scanNa: 0, scanTot: top });
}

async function move(db: Db, { feedId, nummer, scanNa, scanTot }: Position): Promise<void> {
  await db.query({
    name: 'raadsfeed-zoek-verder',
    text: `update raadsfeed_zoek.positie set feed_id = $1::text, nummer = $2::bigint, scan_na = $3::bigint, scan_tot = $4::bigint`,
    values: [feedId, nummer, scanNa, scanTot],
  });
}

/** Entries of what is not there any more: none, unless somebody changed the tables by hand. */
async function dropStrays(db: Db): Promise<void> {
  await db.query(
    `delete from raadsfeed_zoek.stuk s where not exists (select from raadsfeed.stand t where t.sequence_number = s.nummer)`,
  );
}

/** Has the whole current state taken in again, while the index is in use. */
export async function startReindex(db: Db): Promise<void> {
  await db.query(
    `update raadsfeed_zoek.positie set scan_na = 0, scan_tot = greatest(nummer, 1), feed_id = case when nummer = 0 then '' else feed_id end`,
  );
}

/** @param text a record as the feed has it */
function toChange(text: string): IndexChange {
  const record: unknown = JSON.parse(text);
  if (!isRecord(record) || !isRecord(record.resource) || !isResourceType(record.resourceType)) {
    throw new Error('a record of the feed cannot be read');
  }
  const { sequenceNumber, resourceType, storedAt, data } = record;
  const { organisatiecode, bronidentificatie } = record.resource;
  const resource = { organisatiecode: String(organisatiecode), bronidentificatie: String(bronidentificatie) };
  return {
    sequenceNumber: Number(sequenceNumber),
    storedAt: String(storedAt),
    ...{ resourceType, resource },
    entry: record.op === 'upsert' && isRecord(data) ? toEntry(resourceType, resource, data) : undefined,
  };
}

/** Milliseconds until the next attempt: after a fault, and beside another process that may stop halfway. */
const RETRY_MS = 500;

export interface IndexFollower {
  start(): void;
  close(): Promise<void>;
}

/** Follows the feed as it changes. Every instance does; the row of the position lets one at a time take its step. */
export function createIndexFollower({
  pool,
  heads,
  log,
}: {
  pool: Pool;
  heads: HeadCache;
  log: Logger;
}): IndexFollower {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    try {
      while (isWanted && !isClosed) {
        isWanted = false;
        const outcome = await followStep(pool);
        if (outcome === 'changed') isWanted = true;
      }
    } catch (error) {
      log.error({ err: error }, 'the search index cannot follow the feed; it is tried again');
    }
  };
  const wake = (): void => {
    isWanted = true;
    if (isClosed) return;
    running ??= run().finally(() => {
      running = undefined;
    });
  };
  let unsubscribe = (): void => undefined;
  return {
    start() {
      unsubscribe = heads.onChange(wake);
      // Also for a step that another process left, and for `feed reindex`.
      timer = setInterval(wake, RETRY_MS).unref();
      wake();
    },
    async close() {
      isClosed = true;
      unsubscribe();
      clearInterval(timer);
      await running;
    },
  };
}
