/**
 * What the first page of a person costs over HTTP, with the entry that it leaves, among ten thousand and among ten million processed
 * objects; beside the bare query through `pg` and an empty request. All take turns: `node bench/log-reads.ts [objects] [turns]`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { startTokens } from '../test/support/tokens.ts';
import { barePage } from './floors/log-page.ts';
import { startChild } from './support/children.ts';
import { BENCH_KEY, generateLog, personOf } from './support/generate-log.ts';
import type { Load, LoadResult } from './support/raw-client.ts';
import { middle, ratioText } from './support/turns.ts';

const large = Number(process.argv[2] ?? 10_000_000);
const turns = Number(process.argv[3] ?? 5);
const SMALL = 10_000;
const ASKED = 500;
const tokens = await startTokens();
const client = await startChild(new URL('support/load-process.ts', import.meta.url));
const { authorization } = await tokens.bearer(['read:normal']);
const HEADERS = {
  authorization,
  oin: '00000099000000001000',
  verwerkingid: '48086bf2-11b7-4603-9526-67d7c3bb6587',
  vertrouwelijkheid: 'normaal',
  bewaartermijn: 'P1Y',
};

/** Milliseconds of one of each, the median. */
interface Costs {
  readonly silent: number;
  readonly logged: number;
  readonly bare: number;
  readonly empty: number;
}

/** A log with so many objects, and two servers on it: one that logs the reading and one that does not. */
async function openLog(objects: number) {
  const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
  const postgres = await startEmbedded({ dir, log: createLogger('error'), settings: { shared_buffers: '1GB' } });
  const start = (logReads: boolean) =>
    startChild(new URL('support/log-server.ts', import.meta.url), {
      DATABASE_URL: postgres.url,
      VERWERKINGENLOG_KEY: BENCH_KEY,
      VERWERKINGENLOG_LOG_READS: String(logReads),
      NODE_ENV: 'test',
      OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
      ...tokens.env,
    });
  const silent = await start(false);
  const logging = await start(true);
  const db = new pg.Client(postgres.url);
  await db.connect();
  const persons = await generateLog(db, objects);
  const numbers = Array.from({ length: ASKED }, (_, i) => personOf(Math.floor((i * persons) / ASKED) + 1));
  const firstPages = numbers.map(
    (bsn) =>
      `/verwerkingenlog/v1/verwerkingsacties?objecttype=persoon&soortObjectId=BSN&objectId=${bsn}&vertrouwelijkheid=normaal`,
  );
  const urls = [Object(await silent.ask({})).url, Object(await logging.ask({})).url];
  return {
    objects,
    async measure(): Promise<Costs> {
      return {
        bare: await barePage(db, numbers),
        empty: await median(urls[0], ['/verwerkingenlog/v1/verwerkingsactiviteiten/x'], 400),
        silent: await median(urls[0], firstPages, 200),
        logged: await median(urls[1], firstPages, 200),
      };
    },
    async close(): Promise<void> {
      await db.end();
      await silent.stop();
      await logging.stop();
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function median(url: string, paths: readonly string[], expectStatus: number): Promise<number> {
  const load: Load = {
    url: `${url}/verwerkingenlog/v1/verwerkingsacties`,
    method: 'GET',
    connections: 1,
    warmUpMs: 300,
    measureMs: 1500,
    headers: HEADERS,
    idempotencyKeys: false,
    bodies: [],
    paths,
    expectStatus,
  };
  const result: LoadResult = Object(await client.ask(load));
  return result.medianMs;
}

const logs: Awaited<ReturnType<typeof openLog>>[] = [];
try {
  const costs = new Map<number, Costs[]>();
  for (const objects of [SMALL, large]) {
    logs.push(await openLog(objects));
    costs.set(objects, []);
  }
  for (const log of logs) for (let i = 0; i < 2; i += 1) await log.measure();
  for (let turn = 0; turn < turns; turn += 1) {
    for (const log of logs) costs.get(log.objects)?.push(await log.measure());
  }
  const of = (objects: number): readonly Costs[] => costs.get(objects) ?? [];
  for (const { objects } of logs) {
    const ms = (part: keyof Costs): string => `${middle(of(objects).map((cost) => cost[part])).toFixed(2)} ms`;
    console.log(
      `${String(objects).padStart(9)} objects: first page ${ms('silent')}, with the reading logged ${ms('logged')}; bare query ${ms('bare')}, empty request ${ms('empty')}`,
    );
    for (const [part, title] of [
      ['silent', 'first page / (bare query + empty request) (at most 3)'],
      ['logged', 'the same with the reading logged'],
    ] as const) {
      const ratios = of(objects).map((cost) => cost[part] / (cost.bare + cost.empty));
      console.log(`  ${title.padEnd(56)} ${ratioText(ratios)}`);
    }
  }
  const growth = of(large).map((cost, i) => cost.silent / (of(SMALL)[i]?.silent ?? Number.NaN));
  console.log(`first page among ${large} / among ${SMALL} (at most 1.3): ${ratioText(growth)}`);
} finally {
  for (const log of logs) await log.close();
  await client.stop();
  await tokens.close();
}
