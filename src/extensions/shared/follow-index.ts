/**
 * Keeps an index beside the feed up with it. Each step is one transaction: the changes, and how far the index has come. The records after
 * the position come first, because a redaction must reach the index within a second; the current state of a feed that is new to the index,
 * or that is indexed again, is added between them.
 */
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { joinRecord } from '../../raadsfeed/domain/record-text.ts';
import { isResourceType, type Resource, type ResourceType, resourceKey } from '../../raadsfeed/domain/resource.ts';
import { readFeedRow, readFiltered, readSnapshot, type StoredRecord } from '../../raadsfeed/store/records.ts';

/** Rows that one step of `begin` removes from a table: well within the time of a statement. */
export const MOST_REMOVED = 5_000;

/** What became of a resource. */
export interface FeedChange {
  readonly sequenceNumber: number;
  readonly resourceType: ResourceType;
  readonly resource: Resource;
  readonly storedAt: Date;
  /** Absent: the resource is gone. */
  readonly data: JsonObject | undefined;
}

/** An index in a schema of its own, which has a table `position` with one row. */
export interface FeedIndex {
  /** A plain identifier, from the code. */
  readonly schema: string;
  /** Records of one step: few, so that no step holds its rows for long. */
  readonly stepRecords: number;
  /** Takes changes in, at most one of each resource. */
  readonly write: (db: Db, changes: readonly FeedChange[]) => Promise<void>;
  /** Removes what must be gone before the current state is taken in from the beginning, a bounded part in each step; true when all of it is gone. */
  readonly begin: (db: Db) => Promise<boolean>;
}

/** How far an index is. */
interface IndexPosition {
  /** Empty: of no feed yet. */
  readonly feedId: string;
  /** Number of the last record that was taken in. */
  readonly nummer: number;
  /** The current state is taken in up to the first of these numbers, and is to be up to the second. */
  readonly scanNa: number;
  readonly scanTot: number;
}

const select = (schema: FeedIndex['schema']): string =>
  `select feed_id as "feedId", nummer, scan_after as "scanNa", scan_to as "scanTot" from ${schema}.position`;

export async function readIndexPosition(
  db: Db,
  { schema }: Pick<FeedIndex, 'schema'>,
): Promise<IndexPosition | undefined> {
  const { rows } = await db.query<IndexPosition>({ name: `${schema}-position`, text: select(schema) });
  return rows[0];
}

/**
 * Takes the next records in.
 * @returns what there was to do: `busy` when another process does it
 */
export async function followFeed(pool: Pool, index: FeedIndex): Promise<'changed' | 'done' | 'busy'> {
  const { schema, stepRecords, write } = index;
  return await transaction(pool, async (db) => {
    const { rows } = await db.query<IndexPosition>({
      name: `${schema}-position-lock`,
      text: `${select(schema)} for update skip locked`,
    });
    const [found] = rows;
    if (found === undefined) return 'busy';
    const head = await readFeedRow(db);
    const top = head.head.sequenceNumber;
    // Another feed, a restored backup, or history that was pruned before it was read: from the current state.
    if (found.feedId !== head.feedId || found.nummer > top || found.nummer < head.historyAfter.sequenceNumber) {
      if (await index.begin(db)) await move(db, schema, { feedId: head.feedId, nummer: top, scanNa: 0, scanTot: top });
      return 'changed';
    }
    if (found.nummer < top) {
      const { records } = await readFiltered(db, found.nummer, stepRecords, {});
      await write(db, lastChanges(records));
      await move(db, schema, { ...found, nummer: found.nummer + records.length });
      return 'changed';
    }
    if (found.scanNa < found.scanTot) {
      const { records, isAll } = await readSnapshot(db, found.scanNa, found.scanTot, stepRecords, {});
      const last = records.at(-1)?.sequenceNumber ?? found.scanTot;
      await write(db, lastChanges(records));
      await move(db, schema, { ...found, scanNa: isAll ? found.scanTot : last });
      return 'changed';
    }
    return 'done';
  });
}

/** Of each resource only the last record counts. */
function lastChanges(records: readonly StoredRecord[]): FeedChange[] {
  const changes = records.map(toChange);
  return [...new Map(changes.map((change) => [resourceKey(change.resourceType, change.resource), change])).values()];
}

function toChange(stored: StoredRecord): FeedChange {
  const record: unknown = JSON.parse(joinRecord(stored, ''));
  if (!isRecord(record) || !isRecord(record.resource) || !isResourceType(record.resourceType)) {
    throw new Error(`record ${stored.sequenceNumber} of the feed cannot be read`);
  }
  const { resourceType, storedAt, data } = record;
  const { organisatiecode, bronidentificatie } = record.resource;
  return {
    ...{ sequenceNumber: stored.sequenceNumber, resourceType, storedAt: new Date(String(storedAt)) },
    resource: { organisatiecode: String(organisatiecode), bronidentificatie: String(bronidentificatie) },
    data: record.op === 'upsert' && isRecord(data) ? data : undefined,
  };
}

async function move(
  db: Db,
  schema: FeedIndex['schema'],
  { feedId, nummer, scanNa, scanTot }: IndexPosition,
): Promise<void> {
  await db.query({
    name: `${schema}-position-move`,
    text: `update ${schema}.position set feed_id = $1::text, nummer = $2::bigint, scan_after = $3::bigint, scan_to = $4::bigint`,
    values: [feedId, nummer, scanNa, scanTot],
  });
}
