/** Ceiling: the rows of actions by `copy`, into the same tables and indexes. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';

export async function copyRows(url: string, count: number): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`
    create temp table bron as select * from verwerkingenlog.versies limit ${count};
    create temp table plaatsen as select p.* from verwerkingenlog.vindplaatsen p join bron using (actie_id);`);
  const { rows } = await client.query('select count(*)::int as count from bron');
  const fresh = "overlay(actie_id::text placing 'ffff' from 15)::uuid";
  await client.query(`update bron set actie_id = ${fresh}; update plaatsen set actie_id = ${fresh}`);
  const text = await Promise.all(
    ['versies', 'vindplaatsen'].map(async (table) => {
      const temp = table === 'versies' ? 'bron' : 'plaatsen';
      const columns = await client.query(
        `select string_agg(format('%I', attname), ',' order by attnum) as list from pg_attribute where attrelid = $1::regclass and attnum > 0`,
        [temp],
      );
      const list = columns.rows[0].list;
      const lines = await client.query(`select array_to_json(array[row(${temp}.*)::text]) ->> 0 as line from ${temp}`);
      return { table, list, lines: lines.rows.map(({ line }) => line.slice(1, -1)) };
    }),
  );
  const started = performance.now();
  await client.query('begin');
  for (const { table, list, lines } of text) {
    const copy = client.query(from(`copy verwerkingenlog.${table} (${list}) from stdin (format csv)`));
    await pipeline(Readable.from(lines.map((line) => `${line}\n`)), copy);
  }
  await client.query('commit');
  const seconds = (performance.now() - started) / 1000;
  await client.end();
  return rows[0].count / seconds;
}
