/** Floor of catching up: reads and parses every page, and writes its records as text with their identity. */
import process from 'node:process';
import pg from 'pg';

const base = process.env.BASE ?? '';
const sources = Number(process.env.SOURCES ?? 300);
const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
await client.query(`create schema if not exists vloer;
  drop table if exists vloer.record;
  create table vloer.record (nummer bigint primary key, organisatie text, naam text, tekst text);
  create unique index on vloer.record (organisatie, naam)`);
const startedAt = performance.now();
let written = 0;
for (let source = 0; source < sources; source += 1) {
  for (let cursor = 'c0', more = true; more; ) {
    const page = Object(await (await fetch(`${base}/${source}/feed?limit=1000&cursor=${cursor}`)).json());
    const records: { resource: { organisatiecode: string; bronidentificatie: string } }[] = page.records;
    await client.query({
      name: 'insert',
      text: 'insert into vloer.record select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[])',
      values: [
        records.map((_, i) => written + i + 1),
        records.map(({ resource }) => resource.organisatiecode),
        records.map(({ resource }) => resource.bronidentificatie),
        records.map((record) => JSON.stringify(record)),
      ],
    });
    written += records.length;
    ({ cursor, hasMore: more } = page);
  }
}
process.stdout.write(JSON.stringify({ written, seconds: (performance.now() - startedAt) / 1000 }));
await client.end();
