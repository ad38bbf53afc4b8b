import { createServer } from 'node:http';
import process from 'node:process';
import { startTokens } from '../test/support/tokens.ts';
import { appendLoad, LOG_ENV } from './support/append-load.ts';
import { startChild } from './support/children.ts';
import { createDatabase, temporaryPostgres } from './support/databases.ts';
import type { LdvLoad } from './support/ldv-load.ts';
import { listen } from './support/listen.ts';
import { middle, ratioText } from './support/turns.ts';

const measureMs = Number(process.argv[2] ?? 4) * 1000;
const turns = Number(process.argv[3] ?? 3);
const WARM_UP_TURNS = 3;
const CONNECTIONS = 64;
/** As many as send batches of 1000. */
const FEW_CONNECTIONS = 4;

await using postgres = await temporaryPostgres({ max_connections: '400' });
await using closing = new AsyncDisposableStack();
const tokens = await startTokens();
closing.defer(tokens.close);
await using actions = await startChild(new URL('support/load-process.ts', import.meta.url));
await using lines = await startChild(new URL('support/ldv-load.ts', import.meta.url));
const settings = {
  ...LOG_ENV,
  LDV_UNKNOWN_ACTIVITY: 'normaal',
  ...tokens.env,
};
const logServer = new URL('support/log-server.ts', import.meta.url);
await using server = await startChild(logServer, { ...settings, DATABASE_URL: postgres.url });

/** Another logbook, which accepts everything. */
const sink = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
});
const sinkUrl = await listen(closing.use(sink));
await using forwarding = await startChild(logServer, {
  ...settings,
  DATABASE_URL: await createDatabase(postgres.url, 'doorgifte'),
  LDV_FORWARD_URL: `${sinkUrl}/v1/traces`,
});

const { authorization } = await tokens.bearer(['create:normal']);
const { url } = Object(await server.ask({}));
const { url: forwardingUrl } = Object(await forwarding.ask({}));
const single = (connections: number, at: string) => async (): Promise<number> => {
  return Object(await actions.ask(appendLoad(at, authorization, { connections, measureMs }))).perSecond;
};
const batches = (batch: number, connections: number) => async (): Promise<number> => {
  const load: LdvLoad = { url: `${url}/ldv/v1/traces`, authorization, connections, batch, warmUpMs: 500, measureMs };
  return Object(await lines.ask(load)).spansPerSecond;
};
const ways = [
  ['POST /verwerkingsacties, 64 connections', single(CONNECTIONS, url)],
  ['the same, forwarded to another logbook', single(CONNECTIONS, forwardingUrl)],
  ['POST /verwerkingsacties, 4 connections', single(FEW_CONNECTIONS, url)],
  ['lines, batches of 1, 64 connections', batches(1, CONNECTIONS)],
  ['lines, batches of 100, 8 connections', batches(100, 8)],
  ['lines, batches of 1000, 4 connections', batches(1000, FEW_CONNECTIONS)],
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
console.log(`${turns} turns of ${measureMs / 1000} s; the median of the turns, and the ratio to the first line`);
const ratio = (found: readonly number[], floor: readonly number[]): string =>
  ratioText(found.map((rate, i) => rate / (floor[i] ?? Number.NaN)));
const all = [...rates.values()];
for (const [title, found] of rates) {
  console.log(`${title.padEnd(44)}${middle(found).toFixed(0).padStart(9)}/s   ${ratio(found, all[0] ?? [])}`);
}
const few = rates.get(ways[2][0]) ?? [];
console.log(`batches of 1000 against single actions, 4 connections each: ${ratio(all.at(-1) ?? [], few)} (target: 5)`);
console.log(`the server's memory peaked at ${(largest / 1024 / 1024).toFixed(0)} MB`);
