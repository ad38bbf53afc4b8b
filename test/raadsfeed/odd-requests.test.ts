/** Requests that no well-behaved client sends, and a well-behaved server's answers. */
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agendapunt, asPage, document, type FeedServer, readRecords, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({
    RAADSFEED_LICENTIE: 'https://creativecommons.org/publicdomain/zero/1.0/',
    RAADSFEED_RETENTIE: 'P5Y',
  });
  await feed.publish([
    vergadering('v-1'),
    agendapunt('a-1'),
    ...Array.from({ length: 10 }, (_, i) => document(`d-${i}`)),
  ]);
});
afterAll(() => feed.stop());

const get = (path: string, headers: Record<string, string> = {}) => feed.api.call('GET', path, { headers });

describe('a parameter', () => {
  it.each(['limit=%31%30', 'limit=010', '&limit=10&', 'limit=10&'])('is decoded correctly: %s', async (query) => {
    expect(asPage((await get(`/feed?${query}`)).json).records).toHaveLength(10);
  });

  it.each([1, 1000])('accepts a limit of %d', async (limit) => {
    for (const path of ['/feed', '/snapshot', '/organisaties/gm9901/informatieobjecten']) {
      const page = asPage((await get(`${path}?limit=${limit}`)).json);
      expect(page.hasMore).toBe(limit === 1);
    }
  });

  it.each([
    ['limit=%205', 'limit'],
    ['limit=+5', 'limit'],
    ['limit=-5', 'limit'],
    ['limit', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['limit=1;cursor=x', 'limit'],
    ['limit[]=5', 'limit[]'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
    ['=1', ''],
    ['organisatiecode=', 'organisatiecode'],
    ['organisatiecode=gm9901%0A', 'organisatiecode'],
    ['organisatiecode=gm9901&organisatiecode=gm9901', 'organisatiecode'],
    ['resourceType=', 'resourceType'],
    ['resourceType=vergadering', 'resourceType'],
    ['organisatieCode=gm9901', 'organisatieCode'],
  ])('is refused by name: %s', async (query, name) => {
    for (const path of ['/feed', '/snapshot']) {
      const answer = await get(`${path}?${query}`);
      expect([answer.status, answer.json]).toMatchObject([
        400,
        {
          type: expect.stringMatching(/\/problems\/invalid-request$/),
          invalidParams: [{ name, reason: expect.any(String) }],
        },
      ]);
    }
  });

  it.each(['cursor', 'cursor=', 'cursor=%FF', 'cursor=AA%3D%3D', `cursor=${'A'.repeat(5000)}`])(
    'that is not a cursor: the answer says where to restart: %s',
    async (query) => {
      for (const path of ['/feed', '/snapshot', '/feed/stream', '/organisaties/gm9901/vergaderingen']) {
        const answer = await get(`${path}?${query}`);
        expect([answer.status, answer.json]).toMatchObject([
          400,
          {
            type: expect.stringMatching(/\/problems\/ongeldige-cursor$/),
            detail: expect.stringContaining('/snapshot'),
          },
        ]);
      }
    },
  );
});

describe('an address', () => {
  it.each(['/f%65ed', '/organisaties/g%6D9901/vergaderingen/v-1', '/organisaties/GM9901/vergaderingen/v%2D1'])(
    'is the same when encoded more than necessary: %s',
    async (path) => {
      expect((await request(feed.mount + path)).statusCode).toBe(200);
    },
  );

  it.each([
    ['/organisaties/gm9901/vergaderingen/%FF', 400],
    ['/organisaties/gm9901/vergaderingen/%00', 400],
    [`/organisaties/gm9901/vergaderingen/${'a'.repeat(501)}`, 400],
    [`/organisaties/gm9901/vergaderingen/${'a'.repeat(500)}`, 404],
    ['/organisaties/gm9901/vergaderingen/a/b', 404],
    ['/organisaties/gm9901/besluiten', 404],
    ['/organisaties/zz/vergaderingen', 400],
    ['/feed;x', 404],
  ])('that is invalid: %s', async (path, status) => {
    const { statusCode, headers, body } = await request(feed.mount + path);
    expect([statusCode, headers['content-type']]).toEqual([status, 'application/problem+json; charset=utf-8']);
    expect(await body.json()).toMatchObject({ status, instance: expect.stringMatching(/^urn:uuid:/) });
  });
});

describe('a stream', () => {
  it.each(['0x5', '1e1', '1.0', '-1', 'abc', '5, 6', '99999999999999999999'])(
    'does not begin after a value that is not a number: %s',
    async (id) => {
      expect((await get('/feed/stream', { 'last-event-id': id })).status).toBe(400);
    },
  );

  it.each(['organisatiecode=zz', 'resourceType=X', 'x=1'])(
    'has the filters of the feed and no others: %s',
    async (query) => {
      expect((await get(`/feed/stream?${query}`)).status).toBe(400);
    },
  );

  it('is not JSON', async () => {
    expect((await get('/feed/stream', { accept: 'application/json' })).status).toBe(406);
  });
});

describe('the service document', () => {
  it('has all its members', async () => {
    const { json } = await get('/');
    expect(json).toEqual({
      rol: 'bronhouder',
      organisaties: [
        {
          organisatiecode: 'gm9901',
          naam: 'Gemeente Voorbeeldstad',
          laatstBijgewerkt: expect.any(String),
          herkomstSoort: 'eigen',
        },
      ],
      resourceTypes: ['Vergadering', 'Agendapunt', 'Informatieobject'],
      feedUrl: `${feed.mount}/feed`,
      snapshotUrl: `${feed.mount}/snapshot`,
      streamUrl: `${feed.mount}/feed/stream`,
      historieVanaf: (await readRecords(feed.api))[0]?.storedAt.slice(0, 10),
      retentie: 'P5Y',
      licentie: 'https://creativecommons.org/publicdomain/zero/1.0/',
    });
    for (const text of ['gm9901', 'Gemeente Voorbeeldstad', 'P5Y', `${feed.mount}/snapshot`, 'publicdomain/zero']) {
      expect((await get('/', { accept: 'text/html' })).text).toContain(text);
    }
  });

  it('says how current an organisation is, even after a publication that changed nothing', async () => {
    const current = async (): Promise<string> => Object((await get('/')).json).organisaties[0].laatstBijgewerkt;
    const before = await current();
    expect(await feed.publish([vergadering('v-1')])).toEqual(['no-op']);
    expect(Date.parse(await current())).toBeGreaterThan(Date.parse(before));
  });

  it.each([
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/html', 'text/html'],
    ['text/*', 'text/html'],
    ['TEXT/HTML; charset=utf-8', 'text/html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['text/html;q=0.5, application/json;q=0.9', 'application/json'],
    ['text/html;q=0, */*', 'application/json'],
    ['application/json;q=0, */*', 'text/html'],
    ['application/*;q=0, */*;q=0.1', 'text/html'],
    ['text/*, application/json;q=0.2', 'text/html'],
    ['text/*;q=0.1, application/json;q=0.2', 'application/json'],
  ])('for %s is returned as %s', async (accept, type) => {
    const answer = await get('/', { accept });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    expect(answer.headers.get('vary')).toBe('Accept-Encoding, Accept');
  });
});

it("answers 200 to the page's ETag when JSON is requested", async () => {
  const tags = [await get('/'), await get('/', { accept: 'text/html' })].map(
    ({ headers }) => headers.get('etag') ?? '',
  );
  expect(tags[0]).not.toBe(tags[1]);
  expect((await get('/', { 'if-none-match': tags[1] ?? '' })).status).toBe(200);
  expect((await get('/', { 'if-none-match': `"a,b", ${tags[0]}, W/"c"` })).status).toBe(304);
});

it('requires no authentication, whatever the request contains', async () => {
  for (const authorization of ['Bearer x', 'Basic eDp5', 'wat']) {
    const answer = await get('/feed?limit=1', { authorization, 'fsc-authorization': authorization });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([200, null]);
  }
});

it('gives an empty page for an unknown organisation', async () => {
  const { cursor } = asPage((await get('/feed')).json);
  for (const path of ['/feed?organisatiecode=WS0999', '/feed?organisatiecode=ws0999&resourceType=Agendapunt']) {
    expect(asPage((await get(path)).json)).toMatchObject({ records: [], cursor, hasMore: false, next: null });
  }
  expect(asPage((await get('/snapshot?organisatiecode=ws0999')).json)).toMatchObject({
    records: [],
    feedCursor: cursor,
    cursor: null,
    hasMore: false,
    next: null,
  });
});

it('shows names in its page unchanged, and runs nothing in them', async () => {
  const naam = `<img src=x onerror="alert(1)"> & 'Co'`;
  await feed.publish([vergadering('v-html', {}, { provincie: 'pv27', naam })]);
  const { text } = await get('/', { accept: 'text/html' });
  expect(text).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; &#39;Co&#39;');
  expect(text).not.toContain('<img');
});

it('has no total anywhere', async () => {
  for (const path of ['/feed', '/snapshot', '/organisaties/gm9901/informatieobjecten']) {
    expect((await get(path)).json).not.toHaveProperty('total');
  }
});
