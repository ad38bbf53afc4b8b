/** A cached answer equals the original, byte for byte, and is counted the same. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '../../src/database/transaction.ts';
import { publishBatch } from '../../src/raadsfeed/store/publish.ts';
import { asPage, changeOf, document, type FeedServer, PATIENT, removal, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
let limited: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
  limited = await startFeed({ RAADSFEED_RATE_LIMIT: '10', TRUST_PROXY: '1' });
  for (const one of [feed, limited]) {
    await one.publish(Array.from({ length: 30 }, (_, i) => document(`d-${i}`, { omschrijving: `Straat ${i} é €` })));
  }
});
afterAll(async () => {
  await feed.stop();
  await limited.stop();
});

/** The complete answer on the wire, except for the date. */
function exchange(
  server: FeedServer,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<string> {
  const { hostname, port } = new URL(server.server.url);
  const lines = Object.entries({ host: 'feed', ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () =>
      resolve(
        Buffer.concat(chunks)
          .toString('latin1')
          .replace(/date: [^\r]*\r\n/i, ''),
      ),
    );
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  });
}

/** An address that no other test uses, so that its first answer is uncached. */
const fresh = (path: string, n: number): string => `${path}${path.includes('?') ? '&' : '?'}limit=${n}`;

describe('a cached response', () => {
  it.each([
    ['a full page', {}],
    ['a full page, gzip', { 'accept-encoding': 'gzip' }],
    ['a full page, br', { 'accept-encoding': 'br' }],
    ['a full page, zstd', { 'accept-encoding': 'gzip, deflate, br, zstd' }],
    ['with an Accept that allows JSON', { accept: 'text/html, */*;q=0.1' }],
  ])('is byte-identical: %s', async (_title, headers) => {
    // Without a cache nothing is reused, so such an instance gives the ordinary answer.
    const ordinary = await feed.another({ 'raadsfeed.cacheMb': '0', PUBLIC_BASE_URL: feed.server.url });
    for (const path of [
      '/ori/v1/feed?limit=7',
      '/ori/v1/feed',
      '/ori/v1/snapshot?limit=4',
      '/ori/v1/organisaties/gm9901/informatieobjecten/d-3',
    ]) {
      const first = await exchange(feed, path, headers);
      expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(await exchange(feed, path, headers)).toBe(first);
      expect(await exchange(feed, path, headers)).toBe(first);
      const plain = await exchange({ ...feed, server: ordinary.server }, path, headers);
      expect(head(plain)).toEqual(head(first));
      if (!('accept-encoding' in headers)) expect(plain).toBe(first);
    }
  });

  it('is byte-identical when nothing has changed (304)', async () => {
    const path = '/ori/v1/feed?limit=8';
    const etag = /etag: ([^\r]+)/i.exec(await exchange(feed, path))?.[1] ?? '';
    const first = await exchange(feed, path, { 'if-none-match': etag });
    expect(first).toMatch(/^HTTP\/1\.1 304 /);
    expect(await exchange(feed, path, { 'if-none-match': etag })).toBe(first);
    expect(await exchange(feed, path, { 'if-none-match': '"x"' })).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is not used once the feed has advanced, unless it is a full page of history, which only a redaction removes', async () => {
    const [full, last] = [fresh('/ori/v1/feed', 9), fresh('/ori/v1/feed', 900)];
    for (const path of [full, full, last, last]) expect(await exchange(feed, path)).toContain('"head":30');
    await feed.publish([vergadering('v-nieuw')]);
    expect(await exchange(feed, last)).toContain('"head":31');
    expect(await exchange(feed, full)).toContain('"head":30');
    await feed.publish([removal('redact', 'Informatieobject', 'd-2')]);
    for (const path of [full, last]) {
      const redacted = await exchange(feed, path);
      expect(redacted).toContain('"geredigeerdeSequenceNumbers":[3]');
      expect(redacted).toContain('"head":32');
      expect(await exchange(feed, path)).toBe(redacted);
    }
  });

  it('is never a snapshot from before its rows were read', async () => {
    const snapshot = async () => asPage((await feed.api.call('GET', '/snapshot?limit=77')).json);
    const before = await transaction(feed.pool, async (client) => {
      await client.query('lock table raadsfeed.current_records in access exclusive mode');
      const asked = snapshot();
      const waiting = async () =>
        (
          await client.query(
            `select from pg_locks where not granted and relation = 'raadsfeed.current_records'::regclass`,
          )
        ).rowCount;
      await expect.poll(waiting, PATIENT).toBe(1);
      await publishBatch(client, [changeOf(document('tussendoor'))], new Date());
      // Not awaited: it is answered when the lock is released.
      return { asked };
    });
    await before.asked;
    const { feedCursor } = await snapshot();
    expect(asPage((await feed.api.call('GET', `/feed?cursor=${feedCursor}`)).json).records).toEqual([]);
  });

  it('is not used for another method, another media type or a request with a body', async () => {
    const path = fresh('/ori/v1/feed', 6);
    const first = await exchange(feed, path);
    expect(await exchange(feed, path, {}, 'HEAD')).toBe(first.slice(0, first.indexOf('\r\n\r\n') + 4));
    expect(await exchange(feed, path, {}, 'POST')).toMatch(/^HTTP\/1\.1 405 /);
    for (const accept of ['image/png', 'text/html, */*;q=0', 'application/json;q=0, */*']) {
      expect(await exchange(feed, path, { accept }), accept).toMatch(/^HTTP\/1\.1 406 /);
    }
    expect(await exchange(feed, path, { 'content-length': '0' })).toBe(first);
  });

  it('appears in the metrics like any other answer', async () => {
    const count = async (): Promise<number> => {
      const text = await (await fetch(`${feed.server.managementUrl}/metrics`)).text();
      const line =
        /koppelvlak_http_request_duration_seconds_count\{method="GET",route="\/ori\/v1\/feed",status="200"\} (\d+)/.exec(
          text,
        );
      return Number(line?.[1] ?? 0);
    };
    await exchange(feed, '/ori/v1/feed?limit=11');
    const before = await count();
    for (let i = 0; i < 5; i += 1) await exchange(feed, '/ori/v1/feed?limit=11');
    await expect.poll(async () => (await count()) - before, PATIENT).toBe(5);
  });
});

describe('the limit per client', () => {
  const ask = (address: string) => exchange(limited, '/ori/v1/feed?limit=3', { 'x-forwarded-for': address });

  it('counts a cached response, by the address from the trusted proxy', async () => {
    const answers: string[] = [];
    for (let i = 0; i < 12; i += 1) answers.push(await ask('192.0.2.1'));
    for (const answer of answers.slice(0, 10)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    for (const answer of answers.slice(10)) {
      expect(answer).toMatch(/^HTTP\/1\.1 429 /);
      expect(answer).toMatch(/retry-after: \d+/i);
      expect(answer).toMatch(/x-ratelimit-remaining: 0/i);
    }
    expect(await ask('192.0.2.2')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('leaves nothing about one client in an answer that a shared cache may store', async () => {
    for (const path of ['/feed', '/feed?limit=3', '/snapshot', '/', '/docs', '/openapi.json']) {
      const first = await exchange(limited, `/ori/v1${path}`, { 'x-forwarded-for': '192.0.2.3' });
      const second = await exchange(limited, `/ori/v1${path}`, { 'x-forwarded-for': '192.0.2.4' });
      expect(first).toMatch(/^HTTP\/1\.1 200 /);
      const lines = (answer: string): string[] => head(answer).filter((line) => !/^date:/i.test(line));
      expect(lines(first), path).toEqual(lines(second));
      expect(first, path).not.toMatch(/ratelimit|192\.0\.2/i);
    }
  });
});

it('serves the same answers with the cache disabled', async () => {
  const small = await feed.another({ 'raadsfeed.cacheMb': '0' });
  const [one, other] = [await small.api.call('GET', '/feed'), await feed.api.call('GET', '/feed')];
  expect(asPage(one.json).records.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
    asPage(other.json).records.map(({ sequenceNumber }) => sequenceNumber),
  );
});

/** Status and headers of an answer, except for the length: the end of a page is compressed only without a cache. */
function head(answer: string): string[] {
  return answer
    .slice(0, answer.indexOf('\r\n\r\n'))
    .split('\r\n')
    .filter((line) => !/^content-length/i.test(line));
}
