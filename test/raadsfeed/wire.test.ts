/** The HTTP interface: parameters, headers, conditional requests, compression, problems. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agendapunt, asPage, document, type FeedServer, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ 'raadsfeed.historyMaxAgeSeconds': '61', 'raadsfeed.headMaxAgeSeconds': '6' });
  await feed.publish([
    ...Array.from({ length: 40 }, (_, i) => document(`d-${i}`, { omschrijving: `Besluit over straat ${i} — €${i}` })),
    vergadering('v-1'),
    agendapunt('a-1'),
  ]);
});
afterAll(() => feed.stop());

const get = (path: string, headers: Record<string, string> = {}) => feed.api.call('GET', path, { headers });

describe('parameters', () => {
  it('reports every fault at once, including unknown parameters', async () => {
    const answer = await get('/feed?limit=0&organisatiecode=amsterdam&resourceType=Besluit&filter=1');
    expect(answer.status).toBe(400);
    const names = Object(answer.json).invalidParams.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(['filter', 'limit', 'organisatiecode', 'resourceType']);
  });

  it.each(['limit=1001', 'limit=1.5', 'limit=', 'limit=1&limit=2', 'limit=1e2', 'cursor=a&cursor=b', 'Limit=1'])(
    'refuses %s',
    async (query) => {
      for (const path of ['/feed', '/snapshot', '/organisaties/gm9901/agendapunten']) {
        expect((await get(`${path}?${query}`)).status).toBe(400);
      }
    },
  );

  it('accepts only their own parameters on a resource, the service document and a stream', async () => {
    for (const path of ['/organisaties/gm9901/agendapunten/a-1?x=1', '/?limit=1', '/feed/stream?limit=1']) {
      expect((await get(path)).status).toBe(400);
    }
  });

  it('refuses an organisation code of the wrong form, also in a path', async () => {
    expect((await get('/organisaties/gm99/agendapunten')).status).toBe(400);
    expect((await get('/organisaties/gm99/agendapunten/a-1')).status).toBe(400);
  });

  it('has no address with a trailing slash except the service document', async () => {
    for (const path of ['/feed/', '/snapshot/', '/organisaties/gm9901/agendapunten/', '/feed/stream/', '//']) {
      expect((await get(path)).status).toBe(404);
    }
    expect((await get('/')).status).toBe(200);
    expect((await get('')).status).toBe(200);
  });

  it('answers another method with 405, and OPTIONS with the allowed ones', async () => {
    const answer = await feed.api.call('POST', '/feed', { body: {} });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await feed.api.call('OPTIONS', '/feed')).status).toBe(204);
  });
});

describe('a cursor that cannot be followed', () => {
  it.each(['garbled', 'AA', '%20', 'e30', 'A'.repeat(26), '__________________________'])(
    'is refused with the address to restart at: %s',
    async (cursor) => {
      for (const path of ['/feed', '/snapshot', '/organisaties/gm9901/agendapunten', '/feed/stream']) {
        const answer = await get(`${path}?cursor=${cursor}`);
        expect([path, answer.status]).toEqual([path, 400]);
        expect(answer.json).toMatchObject({
          type: expect.stringMatching(/\/problems\/ongeldige-cursor$/),
          detail: expect.stringContaining('/snapshot'),
          invalidParams: [{ name: 'cursor' }],
        });
      }
    },
  );

  it('may belong to another list, or to another feed', async () => {
    const { cursor, feedCursor } = { ...asPage((await get('/snapshot?limit=1')).json) };
    expect((await get(`/feed?cursor=${cursor}`)).status).toBe(400);
    expect((await get(`/snapshot?cursor=${feedCursor}`)).status).toBe(400);
    const other = await startFeed();
    await other.pool.query(`update raadsfeed.feed set feed_id = '\\x0102030405060708'`);
    await expect
      .poll(async () => (await other.api.call('GET', `/feed?cursor=${feedCursor}`)).json)
      .toMatchObject({ status: 400, detail: expect.stringContaining('niet van deze feed') });
    await other.stop();
  });

  it('may have a number that was changed by hand', async () => {
    const bytes = Buffer.from(asPage((await get('/feed?limit=5')).json).cursor ?? '', 'base64url');
    bytes.writeUIntBE(7, 9, 6);
    expect((await get(`/feed?limit=3&cursor=${bytes.toString('base64url')}`)).status).toBe(400);
  });
});

describe('headers', () => {
  it('lets clients cache history longer than the page that reaches the head', async () => {
    expect((await get('/feed?limit=5')).headers.get('cache-control')).toBe('public, max-age=61');
    expect((await get('/feed')).headers.get('cache-control')).toBe('public, max-age=6');
  });

  it('link to the next page, even at the head, to the page itself and to its description', async () => {
    const history = await get('/feed?limit=5&resourceType=Informatieobject');
    const { next } = asPage(history.json);
    expect(history.headers.get('link')).toBe(
      `<${next}>; rel="next", <${feed.mount}/feed?limit=5&resourceType=Informatieobject>; rel="self", <${feed.mount}/openapi.json>; rel="service-desc"`,
    );
    const end = await get('/feed');
    expect(end.headers.get('link')).toContain(`<${feed.mount}/feed?cursor=${asPage(end.json).cursor}>; rel="next"`);
    expect((await get('/snapshot?limit=5')).headers.get('link')).toMatch(/^<[^>]+>; rel="next"$/);
    expect((await get('/snapshot')).headers.get('link')).toBeNull();
  });

  it('allow every origin and give the version', async () => {
    for (const path of ['/feed', '/snapshot', '/', '/organisaties/gm9901/vergaderingen/v-1', '/feed?limit=0']) {
      const { headers } = await get(path);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('api-version')).toBe('0.0.2');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('conditional requests', () => {
  it('answers 304 while nothing has changed, and 200 when something has', async () => {
    for (const path of [
      '/feed',
      '/feed?limit=5',
      '/snapshot',
      '/organisaties/gm9901/vergaderingen',
      '/organisaties/gm9901/vergaderingen/v-1',
      '/',
    ]) {
      const etag = (await get(path)).headers.get('etag') ?? '';
      for (const tag of [etag, `"x", ${etag}`, '*', etag.replace('W/', '')]) {
        const again = await get(path, { 'if-none-match': tag });
        expect([path, tag, again.status, again.text]).toEqual([path, tag, 304, '']);
        expect(again.headers.get('etag')).toBe(etag);
      }
      expect((await get(path, { 'if-none-match': '"anders"' })).status).toBe(200);
    }
    const before = (await get('/feed')).headers.get('etag') ?? '';
    await feed.publish([vergadering('v-2')]);
    expect((await get('/feed', { 'if-none-match': before })).status).toBe(200);
  });

  it('has one ETag for all encodings', async () => {
    const tags = await Promise.all(
      ['identity', 'gzip', 'br', 'zstd'].map(async (e) =>
        (await get('/feed', { 'accept-encoding': e })).headers.get('etag'),
      ),
    );
    expect(new Set(tags).size).toBe(1);
  });
});

describe('HEAD', () => {
  it('has the headers of GET and no body', async () => {
    for (const path of ['/feed', '/feed?limit=5', '/snapshot', '/organisaties/gm9901/vergaderingen/v-1', '/']) {
      const [head, body] = [await feed.api.call('HEAD', path), await get(path)];
      expect(head.text).toBe('');
      for (const name of ['etag', 'content-type', 'cache-control', 'link', 'vary', 'content-length']) {
        expect([path, name, head.headers.get(name)]).toEqual([path, name, body.headers.get(name)]);
      }
    }
  });
});

describe('compression', () => {
  const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

  async function raw(path: string, encoding: string): Promise<{ encoding: string; bytes: Buffer; vary: string }> {
    const { body, headers } = await request(feed.mount + path, { headers: { 'accept-encoding': encoding } });
    const said = String(headers['content-encoding'] ?? 'identity');
    return { encoding: said, bytes: Buffer.from(await body.arrayBuffer()), vary: String(headers.vary) };
  }

  it.each(Object.entries(decoders))('supports %s on every list, first time and again', async (encoding, decode) => {
    for (const path of ['/feed', '/feed?limit=20', '/snapshot', '/organisaties/gm9901/informatieobjecten']) {
      const plain = await raw(path, 'identity');
      for (const time of ['first', 'second', 'third']) {
        const { bytes, encoding: said, vary } = await raw(path, encoding);
        expect([path, time, said, vary]).toEqual([path, time, encoding, 'Accept-Encoding']);
        expect(decode(bytes).equals(plain.bytes)).toBe(true);
        expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
      }
    }
  });

  it.each([
    ['gzip;q=0.5, br;q=0.9, zstd;q=0.1', 'br'],
    ['*', 'zstd'],
    ['gzip;q=0', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['deflate', 'identity'],
    ['GZIP', 'gzip'],
    ['gzip;q=wat', 'identity'],
  ])('negotiates %s as %s', async (accept, expected) => {
    expect((await raw('/feed', accept)).encoding).toBe(expected);
  });
});

it('pages through names of any length and any characters', async () => {
  const names = [
    `${'€'.repeat(249)}/${'𝄞'.repeat(250)}`,
    `${'𝄞'.repeat(499)}a`,
    'a b?c#d%2Fe',
    '"\\\n\t',
    "'; drop table --",
  ];
  await feed.publish(names.map((name) => agendapunt(name, {}, { waterschap: 'ws0001', naam: 'Waterschap' })));
  const seen: unknown[] = [];
  for (let path: string | null = '/organisaties/ws0001/agendapunten?limit=1'; path !== null; ) {
    const page = asPage((await get(path)).json);
    seen.push(...page.results.map(({ bronidentificatie }) => bronidentificatie));
    path = page.next === null ? null : page.next.slice(feed.mount.length);
  }
  expect([...seen].sort()).toEqual([...names].sort());
  for (const { resourceUrl = '', data } of asPage((await get('/feed?organisatiecode=ws0001')).json).records) {
    expect((await get(resourceUrl.slice(feed.mount.length))).json).toEqual(data);
  }
});
