/** Changes to the feed. */
import type pg from 'pg';
import { type Chosen, type LogRecords, one, type Try } from './common.ts';

interface FeedRecord extends Chosen {
  readonly n: number;
}

async function feedRecord(db: pg.PoolClient): Promise<FeedRecord> {
  const { n } = await one<{ n: number }>(
    db,
    `select sequence_number as n from raadsfeed.records where op = 'upsert' and seed is not null order by random() limit 1`,
  );
  return { n: Number(n), name: `record ${n}`, leaf: Number(n) - 1 };
}

const TABLES = ['current_records', 'texts', 'records'];

/** Its records. */
export const FEED: LogRecords<FeedRecord> = {
  log: 'raadsfeed',
  choose: feedRecord,
  async remove(db, { n }) {
    for (const table of TABLES) await db.query(`delete from raadsfeed.${table} where sequence_number = $1`, [n]);
  },
  async removeDay(db, { n }) {
    const day = `(select sequence_number from raadsfeed.records where stored_at::date = (select stored_at::date from raadsfeed.records where sequence_number = $1))`;
    for (const table of TABLES) await db.query(`delete from raadsfeed.${table} where sequence_number in ${day}`, [n]);
  },
};

export const FEED_TRIES: Readonly<Record<string, Try>> = {
  async update(db) {
    const { n, name } = await feedRecord(db);
    await db.query(
      `update raadsfeed.texts set record_suffix = replace(record_suffix, 'Vergadering', 'Bijeenkomst') where sequence_number = $1`,
      [n],
    );
    return { names: [name], forged: [name] };
  },
  async insert(db) {
    const { n } = await feedRecord(db);
    const { head } = await one<{ head: number }>(db, 'update raadsfeed.feed set head = head + 1 returning head');
    await db.query(
      `insert into raadsfeed.records (sequence_number, op, resource_type, organisatiecode, bronidentificatie, stored_at, seed)
       select $2, op, resource_type, organisatiecode, bronidentificatie, stored_at, seed from raadsfeed.records where sequence_number = $1`,
      [n, head],
    );
    await db.query(
      `insert into raadsfeed.texts (sequence_number, epoch, record_prefix, record_suffix) select $2, epoch, record_prefix, record_suffix from raadsfeed.texts where sequence_number = $1`,
      [n, head],
    );
    return { names: [`record ${head}`], forged: [`record ${head}`] };
  },
  async swap(db) {
    const { n: a } = await feedRecord(db);
    const { n } = await one<{ n: number }>(
      db,
      `select sequence_number as n from raadsfeed.records where op = 'upsert' and sequence_number <> $1 order by random() limit 1`,
      [a],
    );
    await db.query(
      `update raadsfeed.texts t set (record_prefix, record_suffix) = (select record_prefix, record_suffix from raadsfeed.texts o where o.sequence_number = case t.sequence_number when $1 then $2::bigint else $1::bigint end)
       where sequence_number in ($1, $2)`,
      [a, n],
    );
    return { names: [`record ${a}`, `record ${n}`], forged: [`record ${a}`, `record ${n}`] };
  },
  async 'disguised as redaction'(db) {
    const { n, name } = await feedRecord(db);
    const text = JSON.stringify({
      sequenceNumber: n,
      op: 'redact',
      resourceType: 'Vergadering',
      resource: { organisatiecode: 'gm9901', bronidentificatie: 'x' },
      storedAt: '2026-01-01T00:00:00.000Z',
      verwijderreden: 'overig',
      geredigeerdeSequenceNumbers: [n],
    });
    await db.query('update raadsfeed.texts set record_prefix = $2, record_suffix = null where sequence_number = $1', [
      n,
      text,
    ]);
    await db.query(`update raadsfeed.records set op = 'redact', seed = null where sequence_number = $1`, [n]);
    await db.query('delete from raadsfeed.current_records where sequence_number = $1', [n]);
    return { names: [name], forged: [name] };
  },
};
