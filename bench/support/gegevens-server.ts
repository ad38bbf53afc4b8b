/**
 * The service, or its floor with `BENCH_FLOOR`, in its own process, which reports its memory and how long its event
 * loop was blocked.
 */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../src/lib/log.ts';
import { serve } from '../../src/serve.ts';
import { readTestConfig } from '../../test/support/overrides.ts';
import { floorAnswers } from '../floors/gegevens.ts';
import { serveParent } from './children.ts';
import { listen } from './listen.ts';

/** Resolution of the event loop measurement, in milliseconds. */
const RESOLUTION_MS = 5;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let peak = 0;
let looking: NodeJS.Timeout | undefined;

const { url, close } =
  process.env.BENCH_FLOOR === undefined ? await startService() : await startFloor(process.env.BENCH_FLOOR);

await serveParent(async (message) => {
  const stats = { url, heldMs: delay.max / 1e6, growthMb: peak / 1024 / 1024 };
  if (Object(message).reset === true) {
    global.gc?.();
    // The first tick still includes the garbage collection; measuring may begin after it.
    await sleep(20 * RESOLUTION_MS);
    const start = process.memoryUsage.rss();
    peak = 0;
    clearInterval(looking);
    looking = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss() - start);
    }, 20);
    delay.reset();
    delay.enable();
  }
  return stats;
}, close);

async function startService() {
  const service = await serve({ config: readTestConfig(process.env, 'serve'), log: createLogger('error') });
  return { url: `${service.url}/${process.env.BENCH_VARIANT}/v1/gegevens`, close: service.stop };
}

async function startFloor(variant: string) {
  const key = createPrivateKey(readFileSync(String(process.env.GEGEVENS_SIGNING_KEY)));
  const floor = floorAnswers(String(process.env.DATABASE_URL), variant, key);
  const server = createServer((request, response) => void floor.answer(request, response));
  const address = await listen(server);
  const stop = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await floor.close();
  };
  return { url: address, close: stop };
}
