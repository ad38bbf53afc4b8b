/** The logs of this database: their origins, sizes and checkpoints, and the queue of unsequenced entries. */
import type { Db } from '../../database/transaction.ts';
import type { NumberedEntry, ProofLogName } from '../proof-log.ts';

export interface StoredLog {
  readonly log: ProofLogName;
  /** 1, and one more for each new origin. */
  readonly number: number;
  readonly origin: string;
  readonly verifierKey: string;
  readonly begunAt: Date;
  /** For the feed: the `sequenceNumber` in the first leaf that holds a record. */
  readonly firstNumber: number;
  /** For the feed: records up to this number have no entry in the queue; the sequencer reads them. */
  readonly takenOverTo: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly checkpoint: string | null;
  /** Seconds since it was signed, by the clock of the database. */
  readonly checkpointAge: number | null;
}

const COLUMNS = `log, origin_number as number, origin, verifier_key as "verifierKey", started_at as "begunAt", first_number as "firstNumber",
  adopted_to as "takenOverTo", size, root_hash as root, checkpoint,
  extract(epoch from clock_timestamp() - checkpoint_at)::float8 as "checkpointAge"`;

export async function readOrigins(db: Db, log: ProofLogName): Promise<StoredLog[]> {
  const { rows } = await db.query<StoredLog & Record<string, unknown>>({
    name: 'proof-origins',
    text: `select ${COLUMNS} from proof.logs where log = $1::text order by origin_number`,
    values: [log],
  });
  return rows;
}

export async function readOrigin(db: Db, origin: string): Promise<StoredLog | undefined> {
  const { rows } = await db.query<StoredLog & Record<string, unknown>>({
    name: 'proof-origin',
    text: `select ${COLUMNS} from proof.logs where origin = $1::text`,
    values: [origin],
  });
  return rows[0];
}

/** The current origin of a log; undefined when it was never started here. */
export async function readLog(db: Db, log: ProofLogName): Promise<StoredLog | undefined> {
  return (await readOrigins(db, log)).at(-1);
}

/** The leaves of an origin without a record: the one that binds the checkpoint of the previous origin. */
export function headerLeaves({ number }: Pick<StoredLog, 'number'>): number {
  return number === 1 ? 0 : 1;
}

/** Of the feed: the number for the next leaf. */
export function nextNumber(log: Pick<StoredLog, 'number' | 'firstNumber' | 'size'>): number {
  return log.firstNumber + log.size - headerLeaves(log);
}

/** Begins an origin, unless another instance did meanwhile. */
export async function insertLog(
  db: Db,
  begun: Omit<StoredLog, 'begunAt' | 'size' | 'checkpoint' | 'checkpointAge'>,
): Promise<void> {
  const { log, number, origin, verifierKey, firstNumber, takenOverTo, root } = begun;
  await db.query(
    `insert into proof.logs (log, origin_number, origin, verifier_key, first_number, adopted_to, root_hash)
     values ($1::text, $2::integer, $3::text, $4::text, $5::bigint, $6::bigint, $7::bytea) on conflict do nothing`,
    [log, number, origin, verifierKey, firstNumber, takenOverTo, root],
  );
}

export function lockOf(log: ProofLogName): string {
  return `proof ${log}`;
}

export async function moveLog(db: Db, { log, number }: StoredLog, size: number, root: Uint8Array): Promise<void> {
  await db.query(
    'update proof.logs set size = $3::bigint, root_hash = $4::bytea where log = $1::text and origin_number = $2::integer',
    [log, number, size, root],
  );
}

/** @param by the note that this one adds cosignatures to @returns false when the tree has grown meanwhile: then a newer one must be signed */
export async function storeCheckpoint(
  db: Db,
  { log, number, size }: StoredLog,
  note: string,
  by?: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update proof.logs set checkpoint = $4::text, checkpoint_at = case when $5::text is null then clock_timestamp() else checkpoint_at end
     where log = $1::text and origin_number = $2::integer and size = $3::bigint and ($5::text is null or checkpoint = $5::text)`,
    [log, number, size, note, by ?? null],
  );
  return rowCount === 1;
}

export async function addToQueue(db: Db, log: ProofLogName, entries: readonly NumberedEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await db.query({
    name: 'proof-queue',
    text: `insert into proof.queue (log, number, entry)
           select $1::text, q.number, q.entry from unnest($2::bigint[], $3::bytea[]) as q(number, entry) order by q.number`,
    values: [log, entries.map(({ number }) => number), entries.map(({ entry }) => Buffer.from(entry))],
  });
}

/** In order of number. @param from of the feed: the next number; only entries that follow it without a gap are taken */
export async function takeFromQueue(db: Db, log: ProofLogName, limit: number, from?: number): Promise<NumberedEntry[]> {
  const isFeed = from !== undefined;
  const { rows } = await db.query<{ number: number; entry: Buffer }>({
    name: isFeed ? 'proof-take-on' : 'proof-take',
    text: `with taken as (
      delete from proof.queue where log = $1::text and ${isFeed ? WITHOUT_GAP : FIRST} returning number, entry
    ) select * from taken order by number`,
    values: isFeed ? [log, limit, from] : [log, limit],
  });
  return rows;
}

/**
 * The highest number to take. The statement sees one snapshot of the queue, so the rows up to that number are the ones counted. No join: with
 * statistics of an empty queue Postgres may choose a nested loop, which takes minutes.
 */
const FIRST = `number <= coalesce(
  (select number from proof.queue where log = $1::text order by number offset $2::integer - 1 limit 1), ${Number.MAX_SAFE_INTEGER})`;

const WITHOUT_GAP = `number >= $3::bigint and number <= (
  select max(number) from (
    select number, number = $3::bigint - 1 + row_number() over (order by number) as sluit_aan
    from (select number from proof.queue where log = $1::text and number >= $3::bigint order by number limit $2::integer) q
  ) q where sluit_aan)`;

export async function firstInQueue(db: Db, log: ProofLogName): Promise<number | undefined> {
  const text = 'select min(number) as first from proof.queue where log = $1::text';
  const { rows } = await db.query<{ first: number | null }>(text, [log]);
  return rows[0]?.first ?? undefined;
}

export async function readQueue(db: Db, log: ProofLogName): Promise<{ pending: number; oldestSeconds: number }> {
  const { rows } = await db.query<{ pending: number; oldestSeconds: number }>({
    name: 'proof-queue-state',
    text: `select count(*) as pending,
             coalesce(extract(epoch from clock_timestamp() - min(queued_at)), 0)::float8 as "oldestSeconds"
           from proof.queue where log = $1::text`,
    values: [log],
  });
  return rows[0] ?? { pending: 0, oldestSeconds: 0 };
}

export async function readPending(db: Db, log: ProofLogName, numbers: readonly number[]): Promise<Map<number, Buffer>> {
  if (numbers.length === 0) return new Map();
  const { rows } = await db.query<{ number: number; entry: Buffer }>({
    name: 'proof-pending',
    text: 'select number, entry from proof.queue where log = $1::text and number = any($2::bigint[])',
    values: [log, numbers],
  });
  return new Map(rows.map(({ number, entry }) => [number, entry]));
}

/** The final checkpoint of an origin: the last published one, even if the database no longer has its leaves. */
export async function storeLastCheckpoint(db: Db, { log, number }: StoredLog, note: string): Promise<void> {
  const text = 'update proof.logs set checkpoint = $3::text where log = $1::text and origin_number = $2::integer';
  await db.query(text, [log, number, note]);
}
