import process from 'node:process';
import { systemClock } from '../../src/kernel/clock.ts';
import { createPool } from '../../src/kernel/database/pool.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { prepareChange } from '../../src/raadsfeed/domain/prepare-change.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { createPublisher, type Publisher } from '../../src/raadsfeed/writer/publisher.ts';
import { startChild } from './children.ts';
import { sampleLine } from './sample-records.ts';

const STREAMS = [
  { count: 1000, withinMs: 100 },
  { count: 5000, withinMs: 400 },
];
const ROUNDS = 20;

/** How long after the commit of one record every open stream has it, beside a bare server that only writes. */
export async function measureStreams(databaseUrl: string): Promise<void> {
  const log = createLogger('error');
  const pool = createPool({
    url: databaseUrl,
    size: 2,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 15_000,
    pooler: 'none',
    applicationName: 'bench',
    log,
  });
  const server = await startChild(new URL('./feed-server.ts', import.meta.url), { DATABASE_URL: databaseUrl });
  const floor = await startChild(new URL('../floors/feed-streams.ts', import.meta.url));
  const readers = await startChild(new URL('./stream-readers.ts', import.meta.url));
  try {
    const { url } = Object(await server.ask({}));
    const bare = Object(await floor.ask({}));
    const publisher = createPublisher({ pool, clock: systemClock });
    for (const { count, withinMs } of STREAMS) {
      await readers.ask({ url: `${url}/ori/v1/feed/stream`, count });
      const ours = await times(async () => {
        const all = readers.ask({});
        const committedAt = await publishOne(publisher);
        return Object(await all).at - committedAt;
      });
      await readers.ask({ url: bare.url, count });
      const event = `id: 1\nevent: record\ndata: ${sampleLine(1)}\n\n`;
      const theirs = await times(async () => {
        const all = readers.ask({});
        const { at } = Object(await floor.ask({ event }));
        return Object(await all).at - at;
      });
      console.log(
        `${count} streams, one record: all have it ${ours.median.toFixed(0)} ms after the commit (slowest of ${ROUNDS}: ${ours.worst.toFixed(0)} ms; to reach ${withinMs} ms); bare writing ${theirs.median.toFixed(0)} ms`,
      );
    }
  } finally {
    await readers.stop();
    await server.stop();
    await floor.stop();
    await pool.end();
  }
}

let round = Date.now() + process.pid;
async function publishOne(publisher: Publisher): Promise<number> {
  round += 1;
  const checked = createValidator()(JSON.parse(sampleLine(1, round)));
  if ('faults' in checked) throw new Error(checked.faults.join('; '));
  await publisher.publish([prepareChange(checked.line)]);
  return performance.timeOrigin + performance.now();
}

let validator: ReturnType<typeof createLineValidator> | undefined;
function createValidator(): ReturnType<typeof createLineValidator> {
  validator ??= createLineValidator();
  return validator;
}

async function times(once: () => Promise<number>): Promise<{ median: number; worst: number }> {
  const found: number[] = [];
  for (let i = 0; i < ROUNDS; i += 1) found.push(await once());
  found.sort((a, b) => a - b);
  return { median: found[ROUNDS / 2] ?? 0, worst: found.at(-1) ?? 0 };
}
