/**
 * How many lines of LDV a second are kept durably in batches of 1, 100 and 1000, beside single actions in the same run; and how large
 * the process gets. All ways take turns: `node bench/ldv.ts [seconds] [turns]`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/kernel/log.ts';
import { startTokens } from '../test/support/tokens.ts';
import { startChild } from './support/children.ts';
import type { LdvLoad } from './support/ldv-load.ts';
import type { Load } from './support/raw-client.ts';
import { sampleActies } from './support/sample-actie.ts';
import { middle, ratioText } from './support/turns.ts';

const measureMs = Number(process.argv[2] ?? 4) * 1000;
const turns = Number(process.argv[3] ?? 3);
const WARM_UP_TURNS = 3;
const CONNECTIONS = 64;

const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({ dir, log: createLogger('error'), settings: { max_connections: '400' } });
const tokens = await startTokens();
const actions = await startChild(new URL('./support/load-process.ts', import.meta.url));
const lines = await startChild(new URL('./support/ldv-load.ts', import.meta.url));
const server = await startChild(new URL('./support/log-server.ts', import.meta.url), {
  DATABASE_URL: postgres.url,
  VERWERKINGENLOG_KEY: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
  OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
  LDV_UNKNOWN_ACTIVITY: 'normaal',
  ...tokens.env,
});

try {
  const { authorization } = await tokens.bearer(['create:normal']);
  const { url } = Object(await server.ask({}));
  const bodies = sampleActies(2000);
  const single = async (): Promise<number> => {
    const load: Load = {
      url: `${url}/verwerkingenlog/v1/verwerkingsacties`,
      method: 'POST',
      connections: CONNECTIONS,
      warmUpMs: 500,
      measureMs,
      headers: { authorization },
      idempotencyKeys: true,
      bodies,
      expectStatus: 201,
    };
    return Object(await actions.ask(load)).perSecond;
  };
  const batches = (batch: number, connections: number) => async (): Promise<number> => {
    const load: LdvLoad = { url: `${url}/ldv/v1/traces`, authorization, connections, batch, warmUpMs: 500, measureMs };
    return Object(await lines.ask(load)).spansPerSecond;
  };
  const ways = [
    ['POST /verwerkingsacties, 64 connections', single],
    ['lines, batches of 1, 64 connections', batches(1, CONNECTIONS)],
    ['lines, batches of 100, 8 connections', batches(100, 8)],
    ['lines, batches of 1000, 4 connections', batches(1000, 4)],
  ] as const;
  for (const [, way] of ways) for (let i = 0; i < WARM_UP_TURNS; i += 1) await way();
  const rates = new Map<string, number[]>(ways.map(([title]) => [title, []]));
  let largest = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [title, way] of ways) {
      rates.get(title)?.push(await way());
      largest = Math.max(largest, Object(await server.ask({})).rss);
    }
  }
  console.log(`${turns} turns of ${measureMs / 1000} s; the middle of the turns, and the ratio to single actions`);
  const floor = rates.get(ways[0][0]) ?? [];
  for (const [title, found] of rates) {
    const ratio = ratioText(found.map((rate, i) => rate / (floor[i] ?? Number.NaN)));
    console.log(`${title.padEnd(44)}${middle(found).toFixed(0).padStart(9)}/s   ${ratio}`);
  }
  console.log(`the server took at most ${(largest / 1024 / 1024).toFixed(0)} MB (batches of 1000: to reach 5)`);
} finally {
  await server.stop();
  await actions.stop();
  await lines.stop();
  await tokens.close();
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
