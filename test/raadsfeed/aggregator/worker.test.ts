/** The scheduler reads due sources, without waiting for its poll when it knows better. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { releaseSource } from '../../../src/raadsfeed/aggregator/store/leased-source.ts';
import { saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { createScheduler } from '../../../src/raadsfeed/aggregator/worker.ts';
import { createDatabase } from '../../support/database.ts';
import { quiet, servicePool } from '../support.ts';

it('reads a source again at once when its run left it due', async () => {
  const database = await createDatabase();
  const pool = servicePool(database.url);
  const runs = 10;
  let count = 0;
  const done = Promise.withResolvers<void>();
  const scheduler = createScheduler({
    pool,
    log: quiet,
    holder: 'test',
    kind: 'feed',
    concurrency: 100,
    leaseSeconds: 30,
    stopping: new AbortController().signal,
    run: async (lease) => {
      count += 1;
      if (count === runs) done.resolve();
      // Long enough for the scheduler to be waiting when it ends.
      await sleep(20);
      await releaseSource(pool, lease, { inMs: 0 });
    },
  });
  try {
    await saveSources(pool, [{ adres: 'https://raad.example/1', soort: 'feed', organisatiecodes: [] }]);
    const start = performance.now();
    scheduler.start();
    await done.promise;
    // Each of a hundred readers polls again after ten seconds at the earliest.
    expect(performance.now() - start).toBeLessThan(10_000);
  } finally {
    await scheduler.close();
    await pool.end();
    await database.drop();
  }
});
