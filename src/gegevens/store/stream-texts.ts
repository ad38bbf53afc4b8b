import pg from 'pg';
import type { Slice } from '../domain/page-plan.ts';

/** Takes a stored text as it comes from the server. */
export type TakeText = (text: string) => void;

/** Hands over the records of a slice, in their order. @returns how many there were */
export function streamRecords(client: pg.ClientBase, { levering, from, to }: Slice, take: TakeText): Promise<number> {
  return streamTexts(client, take, {
    text: `select tekst from gegevens.records
      where invoer_id = $1::bigint and levering = $2::int and soort = 0 and nummer >= $3::int and nummer < $4::int
      order by nummer`,
    values: [levering.invoerId, levering.nummer, from, to],
  });
}

/** Hands over the cases that go with the records of a slice, in the order of the file. @returns how many there were */
export function streamZaken(client: pg.ClientBase, { levering, from, to }: Slice, take: TakeText): Promise<number> {
  return streamTexts(client, take, {
    text: `select r.tekst
      from gegevens.zaken_bij z
      join gegevens.records r on r.invoer_id = z.invoer_id and r.levering = z.levering and r.soort = 1 and r.nummer = z.zaak
      where z.invoer_id = $1::bigint and z.levering = $2::int and z.bij >= $3::int and z.bij < $4::int
      order by z.zaak`,
    // A levering without records has its cases with the place where the first record would be.
    values: [levering.invoerId, levering.nummer, from, Math.max(to, from + 1)],
  });
}

/**
 * Rows are taken one by one as their bytes come in, so that no list of them is ever in memory. The statement has no name: a query of
 * this form keeps it also behind a transaction pooler, where the next use may meet another server process.
 */
function streamTexts(
  client: pg.ClientBase,
  take: TakeText,
  query: { text: string; values: unknown[] },
): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    const config: pg.QueryArrayConfig = { ...query, rowMode: 'array' };
    const running = new pg.Query<[string]>(config);
    running.on('row', ([text]) => {
      count += 1;
      take(text);
    });
    running.on('error', reject);
    running.on('end', () => resolve(count));
    client.query(running);
  });
}
