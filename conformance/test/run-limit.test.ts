import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { SuiteSubject } from '../case.ts';
import { createClient } from '../client.ts';
import { RAADSFEED_PUBLISH } from '../raadsfeed-publish/suite.ts';
import { longestRunMs, longestWaitMs, startLimit } from '../run-limit.ts';
import { runSuite } from '../run-suite.ts';

const source = { document: 'test', clause: '1', quote: 'x' };
const title = { nl: 'x', en: 'x' };
const named = (id: string) => ({ id, title, level: 'must', source }) as const;

/** Three cases that send requests, with a limit of five seconds, to a service that answers only the first of them properly. */
async function run(second: RequestListener, check?: () => Promise<undefined>) {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    if (calls === 1) response.end('{}');
    else second(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  const { signal } = new AbortController();
  const limit = startLimit(5000);
  const client = createClient({ subject: url, rate: 100_000, signal, limit });
  const subject: SuiteSubject = { values: { url }, fault: () => undefined, client };
  const ask = [{ to: '{url}' }];
  const cases = [
    { ...named('A-A-01'), ask },
    { ...named('A-A-02'), ...(check === undefined ? { ask } : { check }) },
  ];
  const chapters = [{ id: 'A-A', title, cases: [...cases, { ...named('A-A-03'), ask, dependsOn: ['A-A-02'] }] }];
  const started = performance.now();
  const results = await runSuite({ chapters, subject, isWanted: () => true, signal, limit });
  await client.close();
  server.closeAllConnections();
  server.close();
  expect(performance.now() - started).toBeLessThan(15_000);
  return results.map(({ outcome, reason }) => [outcome, reason]);
}

const REACHED = 'the run reached its limit of 0.1 minutes';

it.concurrent.each<readonly [string, RequestListener]>([
  ['a byte now and then', (_, response) => void setInterval(() => response.write(' '), 20).unref()],
  ['headers and then nothing', (_, response) => void response.writeHead(200).flushHeaders()],
  ['nothing', () => undefined],
  ['a request to retry later', (_, response) => void response.writeHead(503, { 'retry-after': '20' }).end()],
])('does not last for ever when a service answers with %s', async (_, listener) => {
  expect(await run(listener)).toEqual([
    ['passed', undefined],
    ['inconclusive', REACHED],
    ['inconclusive', REACHED],
  ]);
});

it.concurrent('ends a case that waits for something other than an answer', async () => {
  const never = () => wait(600_000, undefined, { ref: false });
  expect(await run(() => undefined, never)).toEqual([
    ['passed', undefined],
    ['inconclusive', REACHED],
    ['inconclusive', REACHED],
  ]);
});

it('gives a run proportionally more time at a lower request rate', () => {
  expect([5, 100, 1].map(longestRunMs)).toEqual([600_000, 600_000, 3_000_000]);
});

it('does not end at once when the rate is too low for any timer', async () => {
  const limits = [0.001, 1e-9].map((rate) => startLimit(longestRunMs(rate)));
  await wait(50);
  expect(limits.map(({ signal }) => signal.aborted)).toEqual([false, false]);
});

it('gives a command its time for each case', () => {
  expect(longestWaitMs({ chapters: RAADSFEED_PUBLISH.chapters }, 60_000)).toBeGreaterThan(40 * 60_000);
});
