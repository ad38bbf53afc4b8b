import process from 'node:process';
import { startTokens } from '../test/support/tokens.ts';
import { copyRows } from './floors/log-copy.ts';
import { insertOneByOne } from './floors/log-insert.ts';
import { appendLoad, LOG_ENV } from './support/append-load.ts';
import { startChild } from './support/children.ts';
import { temporaryPostgres } from './support/databases.ts';
import type { LoadResult } from './support/raw-client.ts';
import { middle, ratioText } from './support/turns.ts';

const measureMs = Number(process.argv[2] ?? 2) * 1000;
const turns = Number(process.argv[3] ?? 3);
const connectionCounts = (process.argv[4] ?? '1,16,64,256').split(',').map(Number);

/** A freshly started server is slow and gets faster during its first ten seconds of load. */
const WARM_UP_TURNS = 5;

await using postgres = await temporaryPostgres({ max_connections: '400' });
await using closing = new AsyncDisposableStack();
const tokens = await startTokens();
closing.defer(tokens.close);
await using client = await startChild(new URL('support/load-process.ts', import.meta.url));
const { authorization } = await tokens.bearer(['create:normal']);

type Way = (connections: number) => Promise<LoadResult>;

async function overHttp(env: Record<string, string>): Promise<Way> {
  const settings = { DATABASE_URL: postgres.url, ...LOG_ENV, ...tokens.env, ...env };
  const server = closing.use(await startChild(new URL('support/log-server.ts', import.meta.url), settings));
  const { url } = Object(await server.ask({}));
  return async (connections) => Object(await client.ask(appendLoad(url, authorization, { connections, measureMs })));
}

const grouped = await overHttp({});
const alone = await overHttp({ 'verwerkingenlog.groupSize': '1' });
const memory = await overHttp({ BENCH_MEMORY: 'true' });
const insert: Way = (connections) => insertOneByOne(postgres.url, connections, measureMs);
const ways: readonly (readonly [string, Way])[] = [
  ['over HTTP, groups share a transaction', grouped],
  ['over HTTP, grouping off', alone],
  ['over HTTP, the same route from memory', memory],
  ['pg, one plain insert per transaction', insert],
];
for (const way of [grouped, alone, memory]) for (let i = 0; i < WARM_UP_TURNS; i += 1) await way(64);

console.log(`${turns} turns of ${measureMs / 1000} s; the median of the turns`);
console.log(`${'variant'.padEnd(48)}conn.   per second    median       p99`);
const results = new Map<number, Map<Way, LoadResult[]>>();
for (const connections of connectionCounts) {
  const byWay = new Map<Way, LoadResult[]>(ways.map(([, way]) => [way, []]));
  results.set(connections, byWay);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [, way] of ways) {
      byWay.get(way)?.push(await way(connections));
    }
  }
  for (const [title, way] of ways) row(title, connections, byWay.get(way) ?? []);
}
const copied = await copyRows(postgres.url, 200_000);
console.log(`${'copy of the same rows into the same indexes'.padEnd(53)}${copied.toFixed(0).padStart(9)} rows/s`);

const of = (way: Way, connections: number): LoadResult[] => results.get(connections)?.get(way) ?? [];
const rates = (way: Way): number[] => of(way, 64).map(({ perSecond }) => perSecond);
const medians = (way: Way): number[] => of(way, 1).map(({ medianMs }) => medianMs);
const over = (a: number[], b: number[]): string => ratioText(a.map((figure, i) => figure / (b[i] ?? Number.NaN)));
const floor = medians(insert).map((ms, i) => ms + (medians(memory)[i] ?? Number.NaN));
console.log('\nratios within a turn');
console.log(`  64 connections, grouped / grouping off (target: 3)            ${over(rates(grouped), rates(alone))}`);
console.log(`  64 connections, grouped / from memory (target: 0.4)           ${over(rates(grouped), rates(memory))}`);
console.log(
  `  64 connections, grouped / copy                                ${(middle(rates(grouped)) / copied).toFixed(2)}`,
);
console.log(`  1 connection, latency / (from memory + insert) (at most 1.3)  ${over(medians(grouped), floor)}`);

function row(title: string, connections: number, results: readonly LoadResult[]): void {
  const ms = (value: number): string => `${value.toFixed(2)} ms`.padStart(10);
  const rate = middle(results.map(({ perSecond }) => perSecond)).toFixed(0);
  const median = middle(results.map(({ medianMs }) => medianMs));
  const p99 = middle(results.map(({ p99Ms }) => p99Ms));
  console.log(`${title.padEnd(48)}${String(connections).padStart(5)}${rate.padStart(9)}/s${ms(median)}${ms(p99)}`);
}
