/** A log whose entries waited in rows of several keeps each of them, and gives them their place in order. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { MIGRATIONS, migrate } from '../../../src/database/migrate.ts';
import { readQueue, takeFromQueue } from '../../../src/extensions/proof/store/logs.ts';
import { quiet, servicePool } from '../../raadsfeed/support.ts';
import { createDatabase } from '../../support/database.ts';

/** An entry that its number can be read from. */
const entryOf = (number: number): Buffer => Buffer.alloc(33, number);

it('moves what waits in groups to the queue', async () => {
  const database = await createDatabase({ empty: true });
  const before = await mkdtemp(join(tmpdir(), 'koppelvlak-migraties-'));
  const client = new pg.Client({ connectionString: database.url });
  const pool = servicePool(database.url, 1);
  try {
    for (const name of await readdir(MIGRATIONS))
      if (name < '0114') await cp(join(MIGRATIONS, name), join(before, name));
    await migrate({ url: database.url, dir: before, log: quiet });
    await client.connect();
    for (const numbers of [[1, 2, 5], [4]])
      await client.query(
        `insert into proof.groepen (log, eerste_nr, laatste_nr, nrs, vermeldingen, op)
         values ('verwerkingen', $1, $2, $3, $4, clock_timestamp() - interval '1 hour')`,
        [numbers[0], numbers.at(-1), numbers, Buffer.concat(numbers.map(entryOf))],
      );
    await client.query(`insert into proof.queue (log, nr, vermelding) values ('verwerkingen', 3, $1)`, [entryOf(3)]);

    await migrate({ url: database.url, dir: MIGRATIONS, log: quiet });
    const { pending, oldestSeconds } = await readQueue(pool, 'verwerkingen');
    expect(pending).toBe(5);
    expect(oldestSeconds).toBeGreaterThanOrEqual(3600);
    expect(await takeFromQueue(pool, 'verwerkingen', 10)).toEqual(
      [1, 2, 3, 4, 5].map((number) => ({ number, entry: entryOf(number) })),
    );
    const { rows } = await client.query(`select to_regclass('proof.groepen') as groups`);
    expect(rows).toEqual([{ groups: null }]);
  } finally {
    await pool.end();
    await client.end();
    await database.drop();
    await rm(before, { recursive: true, force: true });
  }
});
