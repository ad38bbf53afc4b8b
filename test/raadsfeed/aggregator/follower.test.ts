/** `feed follow` on a feed that violates the specification, or loses its history. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentHash } from '../../../src/lib/feed/record.ts';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { callProgram, type Ended } from '../../support/program.ts';

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: object;
  /** Replaces `"HERE"` in the body: JSON that `JSON.stringify` would not write. */
  readonly here?: string;
}

/** The feed's answers at each of its addresses; each list is used in turn, and its last answer repeated. */
let answers: Record<string, Answer[]> = {};
let asked: string[] = [];
let server: Server;
let base: string;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const list = answers[request.url?.split('?')[0] ?? ''] ?? [];
    const {
      status = 200,
      headers = {},
      body,
      here = '',
    } = (list.length > 1 ? list.shift() : list[0]) ?? { status: 404, body: {} };
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body).replaceAll('"HERE"', here));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = `http://127.0.0.1:${isRecord(address) ? address.port : 0}`;
});
afterAll(async () => {
  server.close();
  await rm(dir, { recursive: true, force: true });
});

let runs = 0;
/** Follows once with a new state, or continues with a given one. */
const follow = (state = `plaats-${++runs}.json`): Promise<Ended> =>
  callProgram(
    ['feed', 'follow', `${base}/dienst`, '--state', state, '--output', `${state}.ndjson`, '--once'],
    {},
    { cwd: dir },
  );

const service = {
  body: {
    get feedUrl() {
      return `${base}/feed`;
    },
    snapshotUrl: '/snapshot',
  },
};
const data = { naam: 'x' };
const upsert = (sequenceNumber: number, more: object = {}) => ({
  sequenceNumber,
  op: 'upsert',
  data,
  contentHash: contentHash(data),
  ...more,
});
const redact = (sequenceNumber: number, geredigeerdeSequenceNumbers?: unknown) => ({
  sequenceNumber,
  op: 'redact',
  verwijderreden: 'correctie',
  geredigeerdeSequenceNumbers,
});
const snapshot = (...records: object[]): Answer => ({
  body: { records, feedCursor: 'begin', cursor: null, hasMore: false, next: null },
});
const page = (cursor: string, head: number, hasMore: boolean, ...records: object[]): Answer => ({
  body: { records, cursor, head, hasMore, next: null },
});

it('finds nothing wrong with a correct feed, and keeps its records', async () => {
  answers = {
    '/dienst': [service],
    '/snapshot': [snapshot(upsert(2), upsert(5))],
    '/feed': [page('a', 8, true, upsert(6)), page('b', 8, false, redact(7, [5]), redact(8, []))],
  };
  const { status, stderr } = await follow('goed.json');
  expect([status, stderr]).toEqual([0, expect.stringContaining('5 records, 0 faults')]);
  const lines = (await readFile(join(dir, 'goed.json.ndjson'), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).sequenceNumber)).toEqual([2, 5, 6, 7, 8]);
});

it.each([
  ['nested', '['.repeat(20_000) + ']'.repeat(20_000), /nested too deeply/],
  ['a number that would become null', '1e400', /number/],
])('omits and reports records that cannot be rewritten as they were read: %s', async (_name, here, why) => {
  answers = {
    '/dienst': [service],
    '/snapshot': [snapshot()],
    '/feed': [
      {
        here,
        body: {
          records: [upsert(1), upsert(2, { data: { naam: 'HERE' } }), { ...redact(3, [1]), extra: 'HERE' }],
          cursor: 'c',
          head: 3,
          hasMore: false,
          next: null,
        },
      },
    ],
  };
  const { status, stderr } = await follow('onschrijfbaar.json');
  expect(stderr).toMatch(why);
  expect(status).toBe(1);
  const lines = (await readFile(join(dir, 'onschrijfbaar.json.ndjson'), 'utf8')).trim().split('\n');
  await rm(join(dir, 'onschrijfbaar.json'));
  await rm(join(dir, 'onschrijfbaar.json.ndjson'));
  expect(lines.map((line) => JSON.parse(line))).toEqual([upsert(1), redact(3, [1])]);
});

describe('reports faults of a feed and exits with 1:', () => {
  it.each<[string, Answer[], string]>([
    ['a missing number', [page('a', 9, false, upsert(6), upsert(9))], 'the numbers 7 to 8 are missing'],
    ['decreasing numbers', [page('a', 9, true, upsert(9)), page('b', 9, false, upsert(8))], 'number 8 comes after 9'],
    ['a number twice', [page('a', 6, false, upsert(6), upsert(6))], 'number 6 comes after 6'],
    [
      'a hash of other content',
      [page('a', 7, false, upsert(6), upsert(7, { data: { naam: 'y' } }))],
      'number 7: its contentHash',
    ],
    ['missing data', [page('a', 6, false, upsert(6, { data: undefined }))], 'number 6: an upsert has no data'],
    ['a redaction with content', [page('a', 6, false, { ...redact(6, [1]), data })], 'a redact holds content'],
    ['a redaction without numbers', [page('a', 6, false, redact(6))], 'a redact names no numbers'],
    ['a head that is too low', [page('a', 5, false, upsert(6))], 'head 5 is lower than number 6'],
    ['a false end', [page('a', 9, false, upsert(6))], 'claims to be at the end, but head is 9'],
    ['an item that is not a record', [page('a', 6, false, { nummer: 6 }, upsert(6))], 'an item is not a record'],
  ])('%s', async (_what, pages, fault) => {
    answers = { '/dienst': [service], '/snapshot': [snapshot()], '/feed': pages };
    const { status, stderr } = await follow();
    expect([status, stderr]).toEqual([1, expect.stringContaining(fault)]);
  });
});

describe('a feed that no longer accepts the cursor', () => {
  const invalid: Answer = {
    status: 400,
    body: { type: 'https://x.example/problems/ongeldige-cursor', detail: 'Begin opnieuw bij /snapshot.' },
  };

  it('is read no further, and from a new snapshot once the state is removed', async () => {
    answers = { '/dienst': [service], '/snapshot': [snapshot(upsert(2))], '/feed': [page('a', 3, false, upsert(3))] };
    expect((await follow('oud.json')).status).toBe(0);
    answers['/feed'] = [invalid, page('b', 9, false, upsert(9))];
    const refused = await follow('oud.json');
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('Remove oud.json')]);
    await rm(join(dir, 'oud.json'));
    asked = [];
    expect(await follow('oud.json')).toMatchObject({ status: 0 });
    expect(asked).toEqual(['/dienst', '/snapshot', '/feed?cursor=begin']);
  });

  it('is retried after the time that it names when busy', async () => {
    const busy: Answer = { status: 503, headers: { 'retry-after': '1' }, body: {} };
    answers = { '/dienst': [service], '/snapshot': [busy, snapshot()], '/feed': [page('a', 6, false, upsert(6))] };
    const { status, stderr } = await follow();
    expect([status, stderr]).toEqual([0, expect.stringContaining('/snapshot answers 503; again in')]);
  });
});

describe('finds nothing wrong with anything that the draft allows:', () => {
  const other = `sha256:${'a'.repeat(64)}`;
  it.each<[string, Answer, Answer[]]>([
    ['hashes of another form', snapshot(upsert(2, { contentHash: other })), [page('a', 2, false)]],
    ['no hashes', snapshot(upsert(2, { contentHash: undefined })), [page('a', 2, false)]],
    [
      'a last page of the snapshot without a cursor',
      { body: { records: [], feedCursor: 'begin', hasMore: false } },
      [page('a', 2, false)],
    ],
    ['numbers that a redaction on the page names', snapshot(), [page('a', 4, false, upsert(1), redact(4, [2, 3]))]],
    [
      'numbers that a later redaction names',
      snapshot(),
      [page('a', 5, true, upsert(1), upsert(4)), page('b', 5, false, redact(5, [2, 3]))],
    ],
  ])('%s', async (_what, first, pages) => {
    answers = { '/dienst': [service], '/snapshot': [first], '/feed': pages };
    expect(await follow()).toMatchObject({ status: 0 });
  });

  it('uses the feedCursor of the first page', async () => {
    const more = (cursor: string, feedCursor: string, hasMore: boolean): Answer => ({
      body: { records: [upsert(hasMore ? 1 : 2)], cursor, feedCursor, hasMore },
    });
    answers = {
      '/dienst': [service],
      '/snapshot': [more('s', 'eerst', true), more('', 'later', false)],
      '/feed': [page('a', 2, false)],
    };
    asked = [];
    expect(await follow()).toMatchObject({ status: 0 });
    expect(asked).toEqual(['/dienst', '/snapshot', '/snapshot?cursor=s', '/feed?cursor=eerst']);
  });
});

it('retries once with a cursor that is refused without a reason', async () => {
  answers = { '/dienst': [service], '/snapshot': [snapshot(upsert(2))], '/feed': [page('a', 2, false)] };
  expect((await follow('kaal.json')).status).toBe(0);
  answers['/feed'] = [{ status: 400, body: {} }];
  asked = [];
  expect(await follow('kaal.json')).toMatchObject({ status: 1, stderr: expect.stringContaining('new snapshot') });
  expect(asked).toEqual(['/feed?cursor=a', '/feed?cursor=a']);
});

it('stops at cyclic cursors', async () => {
  const round = ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'].map((cursor) => page(cursor, 9, true));
  answers = { '/dienst': [service], '/snapshot': [snapshot()], '/feed': round };
  expect(await follow()).toMatchObject({ status: 1, stderr: expect.stringContaining('come back') });
});

it('stops at a feed that announces more without advancing', async () => {
  answers = { '/dienst': [service], '/snapshot': [snapshot()], '/feed': [page('begin', 6, true)] };
  expect(await follow()).toMatchObject({ status: 1, stderr: expect.stringContaining('does not advance') });
});
