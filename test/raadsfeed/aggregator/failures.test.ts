/**
 * Sources that misbehave in every way: nothing false is published, nothing is lost, the lag shows, and the aggregator recovers on its own.
 */
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { type FeedServer, readRecords, type TestRecord } from '../support.ts';
import { FakeSource, type Rule } from './fake-source.ts';
import { documentReread, eventually, follow, issueKinds, sourceState, startAggregator, unfollow } from './support.ts';

let aggregator: FeedServer;
let codes = 0;

beforeAll(async () => {
  const limits = { 'raadsfeed.sourcesTimeoutMs': '400', 'aggregator.maxAnswerBytes': '65536' };
  // A new snapshot heals some faults, and might be read before a test looks, so rereading is delayed.
  aggregator = await startAggregator({ ...limits, 'aggregator.backoffMaxMs': '60000' });
});

afterAll(() => aggregator.stop());

/** Overrides `/feed` only; the service document stays unchanged. */
function onFeed(rule: Rule): Rule {
  return (call) => call.path === '/feed' && rule(call);
}

function raw(body: Uint8Array | string, headers: Record<string, string> = {}, status = 200): Rule {
  return onFeed(({ response }) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    return true;
  });
}

/** A page whose records are modified before they are sent. */
function changed(change: (records: Record<string, unknown>[], page: Record<string, unknown>) => object): Rule {
  return onFeed(({ page, json }) => {
    const good = page();
    const records = Array.isArray(good.records) ? good.records.map((record: object) => ({ ...record })) : [];
    if (records.length === 0) return false;
    return json({ ...good, ...change(records, good) }) === undefined;
  });
}

/** Once, then 503: a third refusal would skip the records, and a slow machine would then wait for them for ever. */
function changedOnce(change: (records: Record<string, unknown>[]) => object): Rule {
  let isDone = false;
  return onFeed((call) => {
    if (isDone) return call.json({}, 503) === undefined;
    isDone = changed(change)(call);
    return isDone;
  });
}

/** Eighty times the allowed size. */
const BOMB = Buffer.alloc(5 * 1024 * 1024, 0x20);

const failures: readonly (readonly [name: string, fault: string, rule: Rule])[] = [
  ['cuts the connection', 'broken-off', ({ request }) => request.socket.destroy() !== undefined],
  ['never answers', 'timeout', onFeed(() => true)],
  [
    'answers a byte at a time',
    'timeout',
    onFeed(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
      return true;
    }),
  ],
  ['answers 500', 'status-500', raw('{}', {}, 500)],
  ['answers 503 without Retry-After', 'status-503', raw('{}', {}, 503)],
  ['answers 502', 'status-502', raw('<html>', { 'content-type': 'text/html' }, 502)],
  ['answers 429 without Retry-After', 'status-429', raw('{}', {}, 429)],
  ['refuses', 'status-403', raw('{}', {}, 403)],
  ['answers 404', 'status-404', raw('{}', {}, 404)],
  ['answers 304 to an unconditional request', 'status-304', raw('', {}, 304)],
  [
    'sends half a body',
    'broken-off',
    onFeed(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"records":[');
      setTimeout(() => response.destroy(), 20);
      return true;
    }),
  ],
  [
    'sends half a body in pieces',
    'broken-off',
    onFeed(({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"records":[');
      setTimeout(() => response.destroy(), 20);
      return true;
    }),
  ],
  [
    'sends half of compressed JSON',
    'broken-off',
    raw(gzipSync('{"records":[]}').subarray(0, 20), { 'content-encoding': 'gzip' }),
  ],
  ['sends a body that is not JSON', 'not-json', raw('{"records":[')],
  ['sends nothing', 'not-json', raw('')],
  ['sends a body that is not UTF-8', 'not-json', raw(Buffer.from([0x22, 0xff, 0x22]))],
  ['sends a page for people', 'content-type', raw('<html>', { 'content-type': 'text/html' })],
  ['sends JSON that is not a page', 'page', raw('[]')],
  ['sends a page without a cursor', 'page', raw('{"records":[],"head":9,"hasMore":false}')],
  ['sends a page without a head', 'page', raw('{"records":[],"cursor":"1.9","hasMore":false}')],
  ['sends an unrequested compression', 'encoding', raw('x', { 'content-encoding': 'compress' })],
  ['compresses twice', 'encoding', raw(gzipSync(gzipSync('{}')), { 'content-encoding': 'gzip, gzip' })],
  ['declares gzip and sends something else', 'encoding', raw('{"records":[]}', { 'content-encoding': 'gzip' })],
  ['sends a huge answer', 'too-large', raw(Buffer.alloc(200_000, 0x20))],
  ['sends a gzip bomb', 'too-large', raw(gzipSync(BOMB), { 'content-encoding': 'gzip' })],
  ['nests deeper than any record', 'too-large', raw('{"a":'.repeat(30_000))],
  ['sends a brotli bomb', 'encoding', raw(brotliCompressSync(BOMB), { 'content-encoding': 'br' })],
  ['sends a zstd bomb', 'encoding', raw(zstdCompressSync(BOMB), { 'content-encoding': 'zstd' })],
  ['redirects to another host', 'redirect', raw('', { location: 'http://localhost:9/feed' }, 307)],
  ['redirects to a file', 'address', raw('', { location: 'file:///etc/passwd' }, 302)],
  ['redirects for ever', 'redirect', raw('', { location: '?again' }, 302)],
  [
    'changes data but not its hash',
    'records',
    changedOnce((records) => ({ records: records.map((r) => ({ ...r, contentHash: `sha256:${'0'.repeat(64)}` })) })),
  ],
  [
    'sends data of another resource',
    'records',
    changedOnce((records) => ({
      records: records.map((r) => ({ ...r, resource: { ...Object(r.resource), bronidentificatie: 'x' } })),
    })),
  ],
  [
    'sends an unknown operation',
    'records',
    changedOnce((records) => ({ records: records.map((r) => ({ ...r, op: 'merge' })) })),
  ],
  [
    'sends no date',
    'records',
    changedOnce((records) => ({ records: records.map((r) => ({ ...r, storedAt: 'yesterday' })) })),
  ],
  [
    'sends records without a number',
    'numbers',
    changed((records) => ({ records: records.map(({ sequenceNumber: _, ...r }) => r) })),
  ],
  ['goes back', 'numbers', changed((records) => ({ records: records.map((r) => ({ ...r, sequenceNumber: 1 })) }))],
  [
    'leaves a gap',
    'numbers',
    changed((records) => ({
      records: records.map((r) => ({ ...r, sequenceNumber: Number(r.sequenceNumber) + 1 })),
      head: 99,
    })),
  ],
  ['repeats a record', 'numbers', changed((records) => ({ records: [...records, ...records] }))],
  ['has a head before its last record', 'numbers', changed(() => ({ head: 1 }))],
  ['does not advance its cursor', 'cursor-stands-still', changed((_, page) => ({ cursor: `1.${2}`, head: page.head }))],
  [
    'no longer has organisations',
    'organisation-missing',
    ({ path, page, json }) => path === '/' && json({ ...page(), organisaties: [] }) === undefined,
  ],
  ['sends an invalid service document', 'document', ({ path, json }) => path === '/' && json({}) === undefined],
];

// Each has its own source and organisation, and mostly waits.
describe('a source that', () => {
  it.concurrent.each(failures)('%s: %s', async (_name, fault, rule) => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      source.document('d-1');
      source.document('d-2');
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect(await published(source)).toHaveLength(2));
      await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));

      source.rule = rule;
      // A run already in progress does not read it.
      await documentReread(aggregator.pool, source.url);
      source.document('d-3');
      await eventually(async () => {
        const state = await sourceState(aggregator.pool, source.url);
        expect(await issueKinds(aggregator.pool, state.id)).toContain(fault);
        const foutSoort = fault === 'records' ? expect.anything() : fault;
        expect(state).toMatchObject({ foutSoort, foutSinds: expect.anything() });
      });
      const stood = await currentSince(source);
      expect(await published(source)).toHaveLength(2);

      source.rule = undefined;
      await eventually(async () => expect(await published(source)).toHaveLength(3));
      await eventually(async () => {
        expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ fout: null, mislukt: 0, behind: 0 });
        expect((await currentSince(source)) > stood).toBe(true);
      });
      expect((await published(source)).map(({ op, herkomst }) => [op, herkomst?.sequenceNumber])).toEqual([
        ['upsert', 1],
        ['upsert', 2],
        ['upsert', 3],
      ]);
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  // Not concurrently: no other test may get its port meanwhile.
  it('is unreachable, and comes back at the same address', async () => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      source.document('d-1');
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect(await published(source)).toHaveLength(1));
      await source.close();
      await eventually(async () =>
        expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ foutSoort: 'unreachable' }),
      );
      source.document('d-2');
      await source.reopen();
      await eventually(async () => expect(await published(source)).toHaveLength(2));
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  it.concurrent.each([429, 503])('answering %i with Retry-After is not called for that long', async (status) => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      source.document('d-1');
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect(await published(source)).toHaveLength(1));
      let refusedAt = 0;
      source.rule = onFeed(({ json }) => {
        if (refusedAt > 0) return false;
        refusedAt = performance.now();
        source.calls.length = 0;
        json({}, status, { 'retry-after': '1' });
        return true;
      });
      source.document('d-2');
      await eventually(async () => expect(await published(source)).toHaveLength(2));
      const again = source.calls.find(({ at }) => at > refusedAt);
      expect((again?.at ?? 0) - refusedAt).toBeGreaterThan(990);
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  it.concurrent('with a freshness lifetime is not called before it ends, and then with its ETag', async () => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      source.document('d-1');
      source.rule = onFeed(({ page, json, request, response }) => {
        if (request.headers['if-none-match'] === 'W/"1"' && source.records.length === 1)
          response.writeHead(304, { 'cache-control': 'max-age=1' }).end();
        else json(page(), 200, { etag: 'W/"1"', 'cache-control': 'public, max-age=1' });
        return true;
      });
      await follow(aggregator.pool, source.url);
      await eventually(() => expect(source.calls.filter(({ etag }) => etag === 'W/"1"').length).toBeGreaterThan(1));
      const times = source.calls.filter(({ path }) => path === '/feed').map(({ at }) => at);
      for (const [i, at] of times.entries()) if (i > 0) expect(at - (times[i - 1] ?? 0)).toBeGreaterThan(990);
      source.document('d-2');
      await eventually(async () => expect(await published(source)).toHaveLength(2));
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  it.concurrent('that keeps sending one invalid record is read past it, and it is reported', async () => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      source.document('d-1');
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect(await published(source)).toHaveLength(1));
      source.document('d-2').contentHash = `sha256:${'0'.repeat(64)}`;
      source.document('d-3');
      await eventually(async () =>
        expect((await published(source)).map((r) => r.resource.bronidentificatie)).toEqual(['d-1', 'd-3']),
      );
      const state = await sourceState(aggregator.pool, source.url);
      expect(state).toMatchObject({ geweigerd: 1 });
      const { rows } = await aggregator.pool.query(
        "select place, detail from aggregator.issues where source_id = $1 and kind = 'record-refused'",
        [state.id],
      );
      expect(rows).toEqual([{ place: `${source.url}/feed#2`, detail: 'contentHash does not match data' }]);
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  it.concurrent('with an empty page that announces more is not up to date, and nothing is published', async () => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      source.document('d-1');
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
      const empty = { records: [], cursor: '1.1', hasMore: false };
      source.rule = onFeed(({ page, json }) => json({ ...page(), ...empty }) === undefined);
      source.document('d-2');
      await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(1));
      const [stood, calls] = [await currentSince(source), source.calls.length];
      await eventually(() => expect(source.calls.length).toBeGreaterThan(calls + 3));
      expect(await currentSince(source)).toBe(stood);
      expect(await published(source)).toHaveLength(1);
      source.rule = undefined;
      await eventually(async () => expect(await published(source)).toHaveLength(2));
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  it.concurrent('that redirects within its own host is followed there', async () => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      source.document('d-1');
      source.rule = ({ path, query, request, response }) => {
        if (path !== '/feed' || query.has('verhuisd')) return false;
        const location = `${new URL(request.url ?? '', source.url).href}&verhuisd=1`;
        response.writeHead(308, { location }).end();
        return true;
      };
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect((await sourceState(aggregator.pool, source.url)).behind).toBe(0));
      source.document('d-2');
      await eventually(async () => expect(await published(source)).toHaveLength(2));
      expect(await sourceState(aggregator.pool, source.url)).toMatchObject({ mislukt: 0, fout: null });
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  it.concurrent('that breaks off in its snapshot is read on from there; the first of several feedCursors counts', async () => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      for (let i = 1; i <= 9; i += 1) source.document(`d-${i}`);
      let pages = 0;
      const asked: (string | null)[] = [];
      source.rule = ({ path, query, page, json, response }) => {
        if (path !== '/snapshot') return false;
        asked.push(query.get('cursor'));
        pages += 1;
        query.set('limit', '3');
        // A fake page of three: the source decides the page size.
        if (pages === 2) response.destroy();
        else if (pages === 3) json({ ...page(), feedCursor: '1.999' });
        else json(page());
        return true;
      };
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect(await published(source)).toHaveLength(9));
      expect(asked).toEqual([null, '1.3.9', '1.3.9', '1.6.9']);
      expect((await published(source)).map(({ herkomst }) => herkomst?.sequenceNumber)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9,
      ]);
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });

  it.concurrent('with too large a page gets requests for smaller ones', async () => {
    const source = await new FakeSource(nextCode()).listen();
    try {
      for (let i = 0; i < 40; i += 1) source.document(`d-${i}`, 'x'.repeat(10_000));
      await follow(aggregator.pool, source.url);
      await eventually(async () => expect(await published(source)).toHaveLength(40));
      // 1000, 250, 62 and 15 records were too many; three were not, nor six, and twelve were not requested.
      const limits = source.calls.filter(({ path }) => path === '/snapshot').map(({ limit }) => limit);
      expect(limits.slice(0, 5)).toEqual(['1000', '250', '62', '15', '3']);
    } finally {
      await unfollow(aggregator.pool, source.url);
      await source.close();
    }
  });
});

function nextCode(): string {
  codes += 1;
  return `gm${String(codes).padStart(4, '0')}`;
}

function published(source: FakeSource): Promise<TestRecord[]> {
  return readRecords(aggregator.api, `/feed?organisatiecode=${source.organisatiecode}`);
}

async function currentSince(source: FakeSource): Promise<string> {
  const { json } = await aggregator.api.call('GET', '/');
  const organisaties: unknown[] = isRecord(json) && Array.isArray(json.organisaties) ? json.organisaties : [];
  const found = organisaties.find((one) => isRecord(one) && one.organisatiecode === source.organisatiecode);
  return isRecord(found) ? String(found.laatstBijgewerkt) : '';
}
