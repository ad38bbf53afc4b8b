/** A feed from before its texts lay in partitions by number keeps every text, and goes on where it was. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { systemClock } from '../../src/lib/time.ts';
import { readRange } from '../../src/raadsfeed/store/read-log.ts';
import { createDatabase } from '../support/database.ts';
import { publishLines, quiet, servicePool, vergadering } from './support.ts';

const HEAD = 200_003;

it('moves the texts of a feed that has them in 32 parts', async () => {
  const database = await createDatabase({ empty: true });
  const before = await mkdtemp(join(tmpdir(), 'koppelvlak-migraties-'));
  const client = new pg.Client({ connectionString: database.url });
  const pool = servicePool(database.url);
  try {
    for (const name of await readdir(MIGRATIONS))
      if (name < '0040') await cp(join(MIGRATIONS, name), join(before, name));
    await migrate({ url: database.url, dir: before, log: quiet });
    await client.connect();
    await client.query(
      `insert into raadsfeed.tekst (deel, sequence_number, merk, kop, rest)
       select (n >> 12) & 31, n, n % 7, 'record ' || n || ' ', case when n % 2 = 0 then null else ' rest' end
         from generate_series(1, ${HEAD}) n`,
    );
    await client.query(`insert into raadsfeed.opruimen (deel) values (3)`);
    await client.query(`update raadsfeed.feed set head = ${HEAD}, head_merk = ${HEAD} % 7`);

    await migrate({ url: database.url, dir: MIGRATIONS, log: quiet });
    const { rows } = await client.query(
      `select count(*)::int as texts, min(sequence_number)::int as first, max(sequence_number)::int as last,
              count(*) filter (where merk <> sequence_number % 7 or kop <> 'record ' || sequence_number || ' '
                                  or (rest is null) <> (sequence_number % 2 = 0))::int as wrong,
              (select partitioned_to from raadsfeed.feed)::int as to, to_regclass('raadsfeed.tekst_in_delen') as old
         from raadsfeed.tekst`,
    );
    expect(rows).toEqual([{ texts: HEAD, first: 1, last: HEAD, wrong: 0, to: 400_000, old: null }]);
    const { records, epoch } = await readRange(pool, 99_998, 4, 'ADRES');
    expect([epoch, records]).toEqual([
      99_998 % 7,
      ['record 99999 ADRES rest', 'record 100000 ', 'record 100001 ADRES rest', 'record 100002 '],
    ]);
    expect(await publishLines(pool, [vergadering('v-1')], systemClock)).toEqual([{ recorded: HEAD + 1 }]);
  } finally {
    await pool.end();
    await client.end();
    await database.drop();
    await rm(before, { recursive: true, force: true });
  }
}, 120_000);
