/** Ceiling: `copy` of action rows into the same tables and indexes. The rows are the log's own, with new identities. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const TABLES = [
  ['versies', 'bron_versies'],
  ['locations', 'bron_plaatsen'],
] as const;

/** @returns actions per second */
export async function copyRows(url: string, most: number): Promise<number> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`create temp table bron_versies as select * from verwerkingenlog.versies limit ${most};
    create temp table bron_plaatsen as select p.* from verwerkingenlog.locations p join bron_versies using (actie_id);
    update bron_versies set actie_id = overlay(actie_id::text placing 'ffff' from 20)::uuid;
    update bron_plaatsen set actie_id = overlay(actie_id::text placing 'ffff' from 20)::uuid;`);
  const texts: { table: string; lines: string[] }[] = [];
  for (const [table, source] of TABLES) {
    const { rows } = await client.query(
      `select substr(t::text, 2, length(t::text) - 2) || E'\\n' as line from ${source} t`,
    );
    texts.push({ table, lines: rows.map(({ line }) => line) });
  }
  const started = performance.now();
  await client.query('begin');
  for (const { table, lines } of texts) {
    const copy = client.query(copyFrom(`copy verwerkingenlog.${table} from stdin (format csv)`));
    await pipeline(Readable.from(lines), copy);
  }
  await client.query('commit');
  const seconds = (performance.now() - started) / 1000;
  await client.end();
  return (texts[0]?.lines.length ?? 0) / seconds;
}
