import process from 'node:process';
import type { Pool } from '../../src/database/pool.ts';
import { transaction } from '../../src/database/transaction.ts';
import { prepareChange } from '../../src/raadsfeed/domain/change.ts';
import { publishBatch } from '../../src/raadsfeed/store/publish.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { type Child, startChild } from './children.ts';
import { openPool } from './databases.ts';
import { sampleLine } from './sample-records.ts';
import { middle, ratioText } from './turns.ts';

const STREAMS = [
  { count: 1000, withinMs: 100 },
  { count: 5000, withinMs: 400 },
];
const ROUNDS = 20;

/**
 * Measures how soon after the commit of one record every open stream has it, alternating with a bare server that only
 * writes.
 */
export async function measureStreams(databaseUrl: string): Promise<void> {
  const pool = openPool(databaseUrl);
  const start = (path: string, env = {}): Promise<Child> => startChild(new URL(path, import.meta.url), env);
  const server = await start('./feed-server.ts', { DATABASE_URL: databaseUrl });
  const floor = await start('../floors/feed-streams.ts');
  const [ourReaders, theirReaders] = [await start('./stream-readers.ts'), await start('./stream-readers.ts')];
  try {
    const { url } = Object(await server.ask({}));
    const bare = Object(await floor.ask({}));
    const event = `id: 1\ndata: ${sampleLine(1)}\n\n`;
    for (const { count, withinMs } of STREAMS) {
      await ourReaders.ask({ url: `${url}/ori/v1/feed/stream`, count });
      await theirReaders.ask({ url: bare.url, count });
      const ours: number[] = [];
      const theirs: number[] = [];
      for (let i = 0; i < ROUNDS; i += 1) {
        ours.push(await waited(ourReaders, () => publishOne(pool)));
        theirs.push(await waited(theirReaders, async () => Number(Object(await floor.ask({ event })).at)));
      }
      const late = theirs.filter((ms) => ms > withinMs).length;
      console.log(
        `${count} streams, one record: all have it ${show(ours)} after the commit (target ${withinMs} ms); bare writing ${show(theirs)}, ${late} of ${ROUNDS} later than that; ratio ${ratioText(ours.map((ms, i) => ms / (theirs[i] ?? 0)))}`,
      );
    }
  } finally {
    await ourReaders.stop();
    await theirReaders.stop();
    await server.stop();
    await floor.stop();
    await pool.end();
  }
}

/** Milliseconds from the moment that `write` returns until every stream has its event. */
async function waited(readers: Child, write: () => Promise<number>): Promise<number> {
  const [all, from] = await Promise.all([readers.ask({}), write()]);
  return Object(all).at - from;
}

function show(ms: readonly number[]): string {
  return `${middle(ms).toFixed(0)} ms (slowest ${Math.max(...ms).toFixed(0)} ms)`;
}

let round = Date.now() + process.pid;
/** @returns the time of its commit, because a publisher returns only after committing */
async function publishOne(pool: Pool): Promise<number> {
  round += 1;
  const checked = createValidator()(JSON.parse(sampleLine(1, round)));
  if ('faults' in checked) throw new Error(checked.faults.join('; '));
  const change = prepareChange(checked.line);
  await transaction(pool, (client) => publishBatch(client, [change], new Date()));
  return performance.timeOrigin + performance.now();
}

let validator: ReturnType<typeof createLineValidator> | undefined;
function createValidator(): ReturnType<typeof createLineValidator> {
  validator ??= createLineValidator();
  return validator;
}
