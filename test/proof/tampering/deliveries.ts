/** Changes to the delivery journal. */
import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { type Chosen, type LogRecords, leafName, leafOf, one, type Try } from './common.ts';

interface Delivery extends Chosen {
  readonly id: number;
  readonly nr: number;
}

async function delivery(db: pg.PoolClient, other = 0): Promise<Delivery> {
  const { id, nr } = await one<{ id: number; nr: number }>(
    db,
    'select id, proof_number as nr from gegevens.journal where proof_number is not null and id <> $1 order by random() limit 1',
    [other],
  );
  return { id: Number(id), nr: Number(nr), name: `delivery ${id}`, leaf: await leafOf(db, 'leveringen', nr) };
}

/** Its records. */
export const DELIVERIES: LogRecords<Delivery> = {
  log: 'leveringen',
  choose: (db) => delivery(db),
  async remove(db, { id }) {
    await db.query('delete from gegevens.journal where id = $1', [id]);
  },
  async removeDay(db, { id }) {
    await db.query(
      'delete from gegevens.journal where prepared_at::date = (select prepared_at::date from gegevens.journal where id = $1)',
      [id],
    );
  },
};

const UPDATES = [
  'records = records + 1',
  `request = request || ' '`,
  `subject = 'niemand'`,
  `oin = '00000000000000000000'`,
  `prepared_at = prepared_at - interval '1 day'`,
  `answer_digest = 'x'`,
  `uncovered = '[]'`,
];

export const DELIVERY_TRIES: Readonly<Record<string, Try>> = {
  async update(db) {
    const { id, name } = await delivery(db);
    await db.query(`update gegevens.journal set ${UPDATES[randomInt(UPDATES.length)]} where id = $1`, [id]);
    return { names: [name], forged: [name] };
  },
  async insert(db) {
    const { id } = await delivery(db);
    await db.query('create temp table copy on commit drop as select * from gegevens.journal where id = $1', [id]);
    await db.query(
      `update copy set first_signature_hash = null, id = nextval('gegevens.journal_id_seq')${randomInt(2) === 0 ? '' : ', proof_number = null, seed = null'}`,
    );
    const added = await one<{ id: number }>(
      db,
      'insert into gegevens.journal overriding system value select * from copy returning id',
    );
    return { names: [`delivery ${added.id}`], forged: [`delivery ${added.id}`] };
  },
  async swap(db) {
    const a = await delivery(db);
    const b = await delivery(db, a.id);
    await db.query(
      `update gegevens.journal j set (request_id, request_digest, request_signature) =
         (select request_id, request_digest, request_signature from gegevens.journal o where o.id in ($1, $2) and o.id <> j.id)
       where id in ($1, $2)`,
      [a.id, b.id],
    );
    return { names: [a.name, b.name], forged: [a.name, b.name] };
  },
  async 'another seed'(db) {
    const a = await delivery(db);
    const b = await delivery(db, a.id);
    await db.query(
      `update gegevens.journal set seed = case when $3 then (select seed from gegevens.journal where id = $2) end where id = $1`,
      [a.id, b.id, randomInt(2) === 0],
    );
    return { names: [a.name], forged: [a.name] };
  },
  async 'another number'(db) {
    const a = await delivery(db);
    const b = await delivery(db, a.id);
    await db.query('update gegevens.journal set proof_number = $2 where id = $1', [a.id, b.nr]);
    return { names: [a.name, b.name], forged: [a.name] };
  },
  async 'from before the log'(db) {
    const { id, name, leaf } = await delivery(db);
    await db.query(
      `update gegevens.journal set proof_number = null, seed = null, prepared_at = '2020-01-01Z' where id = $1`,
      [id],
    );
    return { names: [leafName('leveringen', leaf)], forged: [name] };
  },
};
