/** The check value of the key that the logs of this database were begun with. */
import type { Db } from '../../../database/transaction.ts';

export async function readKeyCheck(db: Db): Promise<string | 'no table' | undefined> {
  const { rows: tables } = await db.query<{ there: boolean }>(
    `select to_regclass('proof.sleutel') is not null as there`,
  );
  if (tables[0]?.there !== true) return 'no table';
  const { rows } = await db.query<{ check: string }>('select controle as check from proof.sleutel');
  return rows[0]?.check;
}

/** Stores it, unless another was first. */
export async function insertKeyCheck(db: Db, check: string): Promise<void> {
  await db.query('insert into proof.sleutel (controle) values ($1::text) on conflict do nothing', [check]);
}
