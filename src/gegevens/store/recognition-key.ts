import type { Db } from '../../kernel/database/transaction.ts';

/** The key of this database under which persons and IDs are hashed, to recognise a record in several deliveries. */
export async function readRecognitionKey(db: Db): Promise<Buffer> {
  const { rows } = await db.query<{ sleutel: Buffer }>('select sleutel from gegevens.herkenning');
  const [key] = rows;
  if (key === undefined) throw new Error('gegevens.herkenning is empty: the database is not as the migrations made it');
  return key.sleutel;
}
