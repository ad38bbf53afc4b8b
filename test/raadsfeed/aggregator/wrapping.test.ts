/** Answers with and without an object around them are read alike. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { createGo } from '../../../src/raadsfeed/aggregator/go/api.ts';
import { createParlaeus } from '../../../src/raadsfeed/aggregator/parlaeus/api.ts';
import { createAdapter } from '../../../src/raadsfeed/aggregator/supplier/read-listed-window.ts';
import * as go from './go/server.ts';
import { answer } from './notubiz/supplier/answer.ts';
import * as notubiz from './notubiz/supplier/answers.ts';
import { MemoryFeed } from './notubiz/supplier/memory-feed.ts';
import { startNotubiz } from './notubiz/supplier/server.ts';
import * as parlaeus from './parlaeus/server.ts';

const retry = { attempts: 2, firstDelay: 1, maxDelay: 50 };
const ORGANISATION = { organisatiecode: 'gm1901', naam: 'Gemeente Voorbeeldstad' };
const keysOf = (feed: MemoryFeed): string => JSON.stringify([...feed.resources]);

describe('GemeenteOplossingen', () => {
  async function open(version: 'v1' | 'v2'): Promise<{ supplier: go.GoServer; feed: MemoryFeed }> {
    const supplier = await go.startGo(version);
    onTestFinished(() => supplier.close());
    const source = { ...ORGANISATION, organisationId: supplier.address, options: { version } };
    const create = createGo;
    const feed = new MemoryFeed(
      (clock) => createAdapter(create({ clock, allowPrivate: true, retry }), clock),
      {},
      source,
    );
    onTestFinished(() => feed.adapter.close());
    const items = [go.itemOf(1, { documents: [go.documentOf(101)] })];
    supplier.meetings.set(11, go.meetingOf(11, { items, documents: [go.documentOf(102)] }));
    supplier.meetings.set(12, go.meetingOf(12));
    return { supplier, feed };
  }

  it.each([
    ['a list in an object', (meetings: unknown[]) => ({ status: 'OK', list: meetings })],
    ['a result that is a list', (meetings: unknown[]) => ({ status: 'OK', code: 200, result: meetings })],
    ['an envelope', (meetings: unknown[]) => ({ code: 200, result: { totalCount: meetings.length, meetings } })],
  ])('v1: %s is read as a bare list is', async (_name, wrap) => {
    const { supplier, feed } = await open('v1');
    await feed.round();
    const before = keysOf(feed);
    const meetings = [...supplier.meetings.values()];
    const own = ({ path }: { path: string }) => supplier.meetings.get(Number(/\/meetings\/(\d+)$/.exec(path)?.[1]));
    supplier.rule = (call) => {
      if (call.path.endsWith('/meetings')) return { status: 200, body: wrap(meetings) };
      const one = own(call);
      return one === undefined ? undefined : { status: 200, body: { status: 'OK', result: one } };
    };
    const round = await feed.round();
    expect(round).toMatchObject({ deletes: [], reading: { complete: true, issues: [] } });
    expect(keysOf(feed)).toBe(before);
    expect(round.reading.items).toHaveLength(2);
    const { source } = feed;
    const window = { from: '2025-01-01', to: '2025-03-31' };
    expect(await feed.adapter.prepare?.({ source, window, signal: AbortSignal.timeout(60_000) })).toEqual({
      version: 'v1',
    });
  });

  it.each([
    ['declares an error', { status: 'ERROR', code: 500, list: [] }],
    ['does so in its status', { status: 501, list: [] }],
    ['announces more than it shows', { code: 200, result: { totalCount: 3, meetings: [] } }],
  ])('v1: a list whose object %s is not read as one', async (_name, body) => {
    const { supplier, feed } = await open('v1');
    await feed.round();
    supplier.rule = ({ path }) => (path.endsWith('/meetings') ? { status: 200, body } : undefined);
    expect(await feed.round()).toMatchObject({ deletes: [], reading: { complete: false } });
  });

  it.each([
    ['bare lists and records', (records: unknown) => records],
    ['lists in an object', (records: unknown) => (Array.isArray(records) ? { status: 'OK', list: records } : records)],
  ])('v2: %s are read as envelopes are', async (_name, form) => {
    const { supplier, feed } = await open('v2');
    supplier.perPage = 1;
    await feed.round();
    const before = keysOf(feed);
    supplier.form = form;
    const round = await feed.round();
    expect(round).toMatchObject({ deletes: [], reading: { complete: true, issues: [] } });
    expect(round.reading.items).toHaveLength(2);
    expect(keysOf(feed)).toBe(before);
  });
});

it('Parlaeus: bare lists and a bare agenda are read as wrapped ones are', async () => {
  const supplier = await parlaeus.startParlaeus();
  onTestFinished(() => supplier.close());
  const folder = await mkdtemp(join(tmpdir(), 'parlaeus-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'rid'), parlaeus.RID);
  const source = { ...ORGANISATION, organisationId: supplier.base, options: { ridFile: join(folder, 'rid') } };
  const create = createParlaeus;
  const feed = new MemoryFeed(
    (clock) => createAdapter(create({ clock, allowPrivate: true, retry }), clock),
    {},
    source,
  );
  onTestFinished(() => feed.adapter.close());
  const agenda = parlaeus.agendaOf('a1', { points: [parlaeus.pointOf('p1')] });
  supplier.agendas.set('a1', agenda);
  await feed.round();
  const before = keysOf(feed);
  const bodies = {
    cie_list: [{ cmid: 'c1', committeename: 'Gemeenteraad' }],
    agenda_list: [agenda],
    agenda_detail: agenda,
  };
  supplier.rule = ({ query }) => {
    const found = Object.entries(bodies).find(([fn]) => fn === query.fn);
    return found === undefined ? undefined : { status: 200, body: found[1] };
  };
  // The names of bodies are read again.
  feed.now = new Date(feed.now.getTime() + 7_200_000);
  const round = await feed.round();
  expect(round).toMatchObject({ deletes: [], reading: { complete: true } });
  expect(round.reading.items).toHaveLength(1);
  expect(keysOf(feed)).toBe(before);
});

it('NotuBiz: bare lists and objects are read as wrapped ones are', async () => {
  const supplier = await startNotubiz();
  onTestFinished(() => supplier.close());
  const feed = new MemoryFeed(supplier);
  onTestFinished(() => feed.adapter.close());
  const { organisation } = supplier;
  organisation
    .addMeeting(notubiz.meetingOf(20, { documents: [notubiz.documentOf(1)] }))
    .addMeeting(notubiz.meetingOf(21))
    .addAssembly(notubiz.meetingOf(30), [notubiz.meetingOf(31)])
    .addRegisterItem(6, notubiz.registerItemOf(900));
  await feed.round();
  const before = keysOf(feed);
  const members = ['events', 'items', 'gremia', 'modules', 'meeting', 'assembly', 'item'];
  supplier.rule = (call) => {
    const answered = answer(call, new Map([['281', organisation]]), 1);
    const { body } = answered;
    const inner = isRecord(body) ? members.map((name) => body[name]).find((value) => value !== undefined) : undefined;
    return { ...answered, body: inner ?? body };
  };
  feed.now = new Date(feed.now.getTime() + 7_200_000);
  const round = await feed.round();
  expect(round).toMatchObject({ deletes: [], reading: { complete: true, issues: [] } });
  expect(round.reading.items).toHaveLength(5);
  expect(keysOf(feed)).toBe(before);
});
