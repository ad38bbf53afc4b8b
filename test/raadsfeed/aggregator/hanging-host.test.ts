/** A host that accepts calls and never answers costs its supplier's readers two time-outs per turn, however many sources it has. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/lib/time.ts';
import { type Dependencies, openDependencies } from '../../../src/raadsfeed/aggregator/dependencies.ts';
import { createGo } from '../../../src/raadsfeed/aggregator/go/api.ts';
import { IbabsClient } from '../../../src/raadsfeed/aggregator/ibabs/calls.ts';
import { createIbabs } from '../../../src/raadsfeed/aggregator/ibabs/supplier.ts';
import { createNotubizAdapter } from '../../../src/raadsfeed/aggregator/notubiz/supplier.ts';
import { createParlaeus } from '../../../src/raadsfeed/aggregator/parlaeus/api.ts';
import { readIssues } from '../../../src/raadsfeed/aggregator/store/issues.ts';
import { findSource, readSourceStates, saveSources } from '../../../src/raadsfeed/aggregator/store/sources.ts';
import { IssueLog } from '../../../src/raadsfeed/aggregator/supplier/issue-log.ts';
import { readInHalves } from '../../../src/raadsfeed/aggregator/supplier/read-in-halves.ts';
import { createAdapter, type SourceAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import { readSupplier, requestOf } from '../../../src/raadsfeed/aggregator/supplier/read-supplier.ts';
import type { DateWindow } from '../../../src/raadsfeed/aggregator/supplier/source-adapter.ts';
import { SupplierError } from '../../../src/raadsfeed/aggregator/supplier/supplier-client.ts';
import { inWindow } from '../../../src/raadsfeed/aggregator/supplier/windows.ts';
import { createScheduler, runSource } from '../../../src/raadsfeed/aggregator/worker.ts';
import { readTestConfig } from '../../support/overrides.ts';
import { pool, serviceDatabase } from '../service-database.ts';
import { quiet } from '../support.ts';
import { type GoServer, itemOf, meetingOf, startGo } from './go/server.ts';
import { MemoryFeed, NEXT_QUARTER, QUARTER, SOURCE } from './notubiz/supplier/memory-feed.ts';
import { RID } from './parlaeus/server.ts';
import { AGGREGATOR_ENV, eventually, sourceState } from './support.ts';

// Longer than an answer takes on a busy machine.
const TIMEOUT = 1000;
const options = { clock: systemClock, allowPrivate: true, timeout: TIMEOUT } as const;
const retry = { attempts: 4, firstDelay: 1, maxDelay: 50 };
const servers: GoServer[] = [];

serviceDatabase();
beforeEach(async () => {
  servers.push(...(await Promise.all([startGo('v1'), startGo('v1'), startGo('v1')])));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await pool.query('delete from aggregator.source_organisations');
  await pool.query('delete from aggregator.sources');
});

const goAdapter = (timeout = TIMEOUT): SourceAdapter =>
  createAdapter(createGo({ ...options, timeout, retry }), systemClock);
const adresOf = ({ address }: GoServer): string => `go:${address}`;

it("delays its supplier's other sources by one turn, and is reported as the fault of its source", async () => {
  const [first, second, healthy] = servers;
  if (first === undefined || second === undefined || healthy === undefined) throw new Error('three were started');
  for (const server of [first, second]) server.rule = () => 'hang';
  healthy.meetings.set(11, meetingOf(11, { date: '2025-01-14 19:30:00' }));
  const config = readTestConfig({ ...AGGREGATOR_ENV, NODE_ENV: 'test' }, 'tool');
  const needs = {
    config,
    database: { pool },
    clock: systemClock,
    log: quiet,
    publicBaseUrl: () => 'http://own.example',
  };
  const opened = openDependencies({ ...needs, proof: () => undefined });
  const deps: Dependencies = { ...opened, adapters: { ...opened.adapters, go: goAdapter() } };
  await saveSources(
    pool,
    [first, second, healthy].map((server, i) => ({
      ...{
        adres: adresOf(server),
        soort: 'leveranciers-api',
        organisatiecodes: [`gm000${i + 1}`],
        naam: `Gemeente ${i}`,
      },
      vanaf: '2025-01-01',
      tot: '2025-06-30',
    })),
  );
  const stop = new AbortController();
  const scheduler = createScheduler({
    pool,
    log: quiet,
    holder: 'test',
    kind: 'go',
    concurrency: 2,
    leaseSeconds: 30,
    stopping: stop.signal,
    run: (lease, signal) => runSource(lease, readSupplier, deps, signal),
  });
  try {
    scheduler.start();
    await eventually(() => expect(healthy.calls.length).toBeGreaterThan(0));
    // Both readers were taken, for one turn each.
    expect(first.calls.length + second.calls.length).toBeLessThanOrEqual(6);
    await eventually(async () => expect((await sourceState(pool, adresOf(healthy))).bijgewerkt).not.toBeNull());
    await eventually(async () =>
      expect((await readSourceStates(pool)).map(({ foutSoort }) => foutSoort)).toEqual([
        'no-answer',
        'no-answer',
        null,
      ]),
    );
    const host = new URL(first.base).host;
    const state = await sourceState(pool, adresOf(first));
    expect(state.fout).toBe(`${host} does not answer: no complete answer within ${TIMEOUT} ms`);
    const issues = await readIssues(pool, (await findSource(pool, adresOf(first)))?.id ?? 0);
    expect(issues.map(({ what }) => what)).toContain('no-answer');
    // Other windows are tried in later turns; once none is due, it remains the reason why its source fails.
    await eventually(async () => {
      const due = 'select from aggregator.windows where source_id = $1 and read_at is null';
      expect((await pool.query(due, [state.id])).rowCount).toBe(0);
    });
    await pool.query('update aggregator.sources set next_at = now() where id = $1', [state.id]);
    await eventually(async () => expect((await sourceState(pool, adresOf(first))).volgende > new Date()).toBe(true));
    expect((await sourceState(pool, adresOf(first))).foutSoort).toBe('no-answer');
  } finally {
    await scheduler.close();
    await deps.adapters.go.close();
    await opened.client.close();
  }
});

it.each([
  ['go', 2],
  ['parlaeus', 1],
  ['ibabs', 1],
  ['notubiz', 2],
] as const)('of %s is called %i times in a turn', async (scheme, times) => {
  const [server] = servers;
  if (server === undefined) throw new Error('it was started');
  server.rule = () => 'hang';
  const folder = await mkdtemp(join(tmpdir(), 'koppelvlak-hang-'));
  const ridFile = join(folder, 'rid');
  await writeFile(ridFile, RID);
  const open: Record<typeof scheme, () => SourceAdapter> = {
    go: () => goAdapter(),
    parlaeus: () => createAdapter(createParlaeus({ ...options, retry }), systemClock),
    ibabs: () => createAdapter(createIbabs(new IbabsClient({ ...options, retry, base: server.base })), systemClock),
    notubiz: () => createNotubizAdapter({ ...options, retry, base: server.base, categories: new Map() }),
  };
  const feed = new MemoryFeed(
    open[scheme],
    {},
    {
      ...SOURCE,
      organisationId: ['go', 'parlaeus'].includes(scheme) ? server.address : 'voorbeeldstad',
      options: { ridFile },
    },
  );
  const { reading } = await feed.round();
  expect(server.calls).toHaveLength(times);
  expect(reading).toMatchObject({ complete: false, items: [] });
  expect(reading.issues.map(({ what }) => what)).toContain('no-answer');
  await feed.adapter.close();
  await rm(folder, { recursive: true });
});

it('that hangs while its meetings are read gets no requests for the others', async () => {
  const [server] = servers;
  if (server === undefined) throw new Error('it was started');
  for (let id = 10; id < 60; id += 1) server.meetings.set(id, meetingOf(id, { items: [itemOf(id * 10)] }));
  server.rule = ({ path }) => (/meetings\/\d/.test(path) ? 'hang' : undefined);
  const feed = new MemoryFeed(() => goAdapter(), {}, { ...SOURCE, organisationId: server.address });
  const { reading } = await feed.round();
  expect(server.calls).toHaveLength(5);
  expect(reading.complete).toBe(false);
  await feed.adapter.close();
});

it('only for one day, or for wide windows, is read except for that day', async () => {
  // Only one end of the window is tried; if that is the hanging day, the next turn may try the other.
  const random = vi.spyOn(Math, 'random');
  for (const [day, chance] of [
    ['2025-02-10', 0.1],
    ['2025-02-10', 0.9],
    ['2025-03-30', 0.9],
    [QUARTER.from, 0.9],
    [QUARTER.to, 0.1],
  ] as const) {
    random.mockReturnValue(chance);
    for (const longest of [92, 1]) {
      const issues = new IssueLog();
      const read = async (part: DateWindow) => {
        const isLong = Date.parse(part.to) - Date.parse(part.from) >= longest * 86_400_000;
        if (isLong || inWindow(day, part)) throw new SupplierError('unavailable', 'silence', { hangs: true });
        return [{ key: part.from }];
      };
      await readInHalves({ issues, request: { window: QUARTER }, path: 'list', read, isTooLarge: () => true });
      expect(issues.all().map(({ what, detail }) => `${what} ${detail}`)).toEqual([
        `unread-days ${day} to ${day}: silence`,
      ]);
    }
  }
  random.mockRestore();
});

it('only for one organisation ends the reading of that one, though it answers others', async () => {
  const [server] = servers;
  if (server === undefined) throw new Error('it was started');
  for (let id = 10; id < 110; id += 1) server.meetings.set(id, meetingOf(id));
  server.rule = ({ path }) => (/meetings\/\d/.test(path) ? 'hang' : undefined);
  const feed = new MemoryFeed(() => goAdapter(500), {}, { ...SOURCE, organisationId: server.address });
  const ended = new AbortController();
  const others = async (): Promise<void> => {
    const { signal } = new AbortController();
    while (!ended.signal.aborted) {
      const { adapter, source } = feed;
      await adapter.readWindow({ source, window: NEXT_QUARTER, depth: 'full', known: [], signal });
    }
  };
  const [{ reading }] = await Promise.all([feed.round().finally(() => ended.abort()), others()]);
  expect(reading.issues.map(({ what }) => what)).toContain('no-answer');
  expect(server.calls.filter(({ path }) => /meetings\/\d/.test(path)).length).toBeLessThan(30);
  await feed.adapter.close();
});

it('has its failed calls counted separately for each window, also in a check of many', () => {
  const { signal } = new AbortController();
  const of = { scheme: 'go', adapter: goAdapter(), source: SOURCE, period: QUARTER } as const;
  const due = { ...QUARTER, depth: 'full', completeAt: null } as const;
  const [one, other] = [1, 2].map(() => requestOf(pool, 1, of, due, { known: [], signal }).signal);
  expect(one).not.toBe(other);
});
