/**
 * Measures an aggregator of many sources: how long it takes to catch up, its memory use, how far it lags afterwards,
 * and the CPU cost of keeping up. Sources, aggregator and Postgres share this machine.
 *
 *   node bench/aggregator.ts [sources] [records per source] [seconds of keeping up]
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../src/database/pool.ts';
import { saveSources } from '../src/raadsfeed/aggregator/store/sources.ts';
import { type Child, startChild } from './support/children.ts';
import { countCaughtUp, openPool, temporaryPostgres } from './support/databases.ts';

const sources = Number(process.argv[2] ?? 300);
const records = Number(process.argv[3] ?? 1000);
const seconds = Number(process.argv[4] ?? 30);

await using postgres = await temporaryPostgres();
const env = { SOURCES: String(sources), RECORDS: String(records), DATABASE_URL: postgres.url };
await using many = await startChild(new URL('support/many-sources.ts', import.meta.url), env);
const { base } = Object(await many.ask({}));
await using pool = openPool(postgres.url);
const floor = Object(
  JSON.parse(
    execFileSync(process.execPath, [join(import.meta.dirname, 'floors/aggregator.ts')], {
      env: { ...process.env, ...env, BASE: base },
      encoding: 'utf8',
    }),
  ),
);
await pool.query('drop schema vloer cascade');
for (let i = 0; i < sources; i += 1)
  await saveSources(pool, [{ adres: `${base}/${i}`, soort: 'feed', organisatiecodes: [] }]);

const startedAt = performance.now();
await using aggregator = await startChild(new URL('support/aggregator-server.ts', import.meta.url), env);
while ((await countCaughtUp(pool)) < sources) await sleep(100);
const took = (performance.now() - startedAt) / 1000;
const { rows } = await pool.query('select head from raadsfeed.feed');
const { peakMb, cpuMs } = Object(await aggregator.ask({}));
const total = sources * records;
console.log(
  `catching up: ${sources} sources, ${rows[0]?.head} of ${total} records in ${took.toFixed(1)} s, including start-up ` +
    `(${(total / took).toFixed(0)}/s, ${((cpuMs * 1000) / total).toFixed(0)} us of CPU each), peak ${peakMb.toFixed(0)} MB ` +
    `(target: 60 s, 400 MB)`,
);
console.log(
  `floor: the same pages read, parsed and written by one bare program in ${floor.seconds.toFixed(1)} s; ratio ${(floor.seconds / took).toFixed(2)}`,
);
await stayCurrent(pool, many, aggregator);

/** Publishes ten records a second at random sources and measures how long each takes to reach the feed. */
async function stayCurrent(db: Pool, from: Child, to: Child): Promise<void> {
  const before = Object(await to.ask({})).cpuMs;
  const startedAt = performance.now();
  const waiting = new Map<string, number>();
  const delays: number[] = [];
  const findPublished = async (): Promise<void> => {
    const keys = [...waiting.keys()];
    const { rows } = await db.query<{ key: string }>(
      `select organisatiecode || '/' || bronidentificatie as key from raadsfeed.current_records
        where organisatiecode || '/' || bronidentificatie = any ($1::text[]) and sequence_number > $2::bigint`,
      [keys, sources * records],
    );
    for (const { key } of rows) {
      delays.push(performance.now() - (waiting.get(key) ?? 0));
      waiting.delete(key);
    }
  };
  while (performance.now() - startedAt < seconds * 1000) {
    const source = Math.floor(Math.random() * sources);
    const { number } = Object(await from.ask({ add: source }));
    waiting.set(`gm${String(source + 1).padStart(4, '0')}/document-${number}`, performance.now());
    await findPublished();
    await sleep(100);
  }
  for (const end = performance.now() + 20_000; waiting.size > 0 && performance.now() < end; ) {
    await findPublished();
    await sleep(50);
  }
  const lasted = (performance.now() - startedAt) / 1000;
  const { cpuMs, peakMb } = Object(await to.ask({}));
  delays.sort((a, b) => a - b);
  const at = (part: number): string => ((delays[Math.ceil(delays.length * part) - 1] ?? 0) / 1000).toFixed(1);
  console.log(
    `keeping up: ${delays.length} new records, ${waiting.size} missing; in the feed after ${at(0.5)} s (median), ${at(1)} s (longest), ` +
      `${(((cpuMs - before) / 1000 / lasted) * 100).toFixed(0)} % of one core, peak ${peakMb.toFixed(0)} MB (target: 10 s)`,
  );
}
