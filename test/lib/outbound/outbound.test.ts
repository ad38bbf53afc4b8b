import { createServer, type RequestListener, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { isForbiddenAddress, isPublicAddress } from '../../../src/lib/outbound/guarded-fetch.ts';
import { createOutboundClient, freshForMs, type OutboundClient } from '../../../src/lib/outbound/outbound-client.ts';
import { backoffMs, retryAfterMs, systemClock } from '../../../src/lib/time.ts';
import { HOSTILE_SHAPES, hostileJson } from '../../support/hostile-json.ts';

const now = new Date('2026-01-15T12:00:00Z');

describe('headers of an answer', () => {
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 15 Jan 2026 12:01:00 GMT', 60_000],
    ['Thu, 15 Jan 2026 11:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    [undefined, undefined],
  ])('reads Retry-After %j as %j milliseconds', (value, expected) => {
    // A lenient parser reads a negative number as a date; only the standard's forms count.
    if (value !== '-5') expect(retryAfterMs(value, now)).toBe(expected);
    else expect(retryAfterMs(value, now) ?? 0).toBe(0);
  });

  it.each([
    ['public, max-age=60', undefined, 60_000],
    ['max-age=60', '20', 40_000],
    ['max-age=60', '90', 0],
    ['no-store, max-age=60', undefined, 0],
    ['no-cache', undefined, 0],
    ['s-maxage=60', undefined, 0],
    [undefined, undefined, 0],
  ])('treats Cache-Control %j with Age %j as fresh for %j', (cacheControl, age, expected) => {
    expect(freshForMs(cacheControl, age)).toBe(expected);
  });

  it('waits longer with each failure, never beyond the limit, never less than requested', () => {
    const policy = { firstMs: 100, maxMs: 10_000 };
    for (let failures = 1; failures < 60; failures += 1) {
      const ceiling = Math.min(10_000, 100 * 2 ** Math.min(30, failures - 1));
      const wait = backoffMs(policy, failures);
      expect(wait).toBeGreaterThanOrEqual(ceiling / 2 - 1);
      expect(wait).toBeLessThanOrEqual(ceiling + 1);
      expect(backoffMs(policy, failures, 60_000)).toBeGreaterThanOrEqual(60_000);
    }
  });
});

describe('addresses', () => {
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'fec0::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '100::1',
    '192.168.1.1',
    'fd00::1',
  ])('calls %s not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '11.0.0.1',
    '2606:4700::1111',
    '2a00::1',
    '145.97.39.155',
    '2a00:1450:400e:80e::200e',
  ])('calls %s public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('addresses that are never called', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '168.63.129.16',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fd00:ec2::254',
  ])('%s', (address) => expect(isForbiddenAddress(address)).toBe(true));

  it.each(['127.0.0.1', '10.0.0.1', '::1', 'fd00::1', '8.8.8.8', '2a00:1450:400e:80e::200e', '::ffff:10.0.0.1'])(
    'does not include %s',
    (address) => expect(isForbiddenAddress(address)).toBe(false),
  );
});

describe('a call', () => {
  let server: Server | undefined;
  let client: OutboundClient | undefined;

  afterEach(async () => {
    await client?.close();
    server?.closeAllConnections();
    server?.close();
  });

  async function listen(
    listener: RequestListener,
    { allowPrivate = true, maxBytes = 1000 }: { allowPrivate?: boolean; maxBytes?: number } = {},
  ): Promise<string> {
    server = createServer(listener).listen(0, '127.0.0.1');
    await new Promise((resolve) => server?.once('listening', resolve));
    client = createOutboundClient({
      clock: systemClock,
      timeoutMs: 5000,
      maxBytes,
      connections: 1,
      allowPrivate,
    });
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
  }

  const get = (url: string) => client?.getJson({ url, signal: new AbortController().signal, redirects: 'same-host' });

  it('does not reach a private address unless that is allowed, as a number or as a name', async () => {
    const url = await listen((_request, response) => response.end(), { allowPrivate: false });
    await expect(get(url)).rejects.toMatchObject({ code: 'address' });
    await expect(get(url.replace('127.0.0.1', 'localhost'))).rejects.toMatchObject({ code: 'address' });
  });

  it.each(['http://169.254.169.254/', 'http://[::ffff:169.254.169.254]/', 'http://[fe80::1]/', 'http://2852039166/'])(
    'does not reach %s, even if private addresses are allowed',
    async (forbidden) => {
      const url = await listen((_request, response) => response.writeHead(307, { location: forbidden }).end());
      await expect(get(forbidden)).rejects.toMatchObject({ code: 'address' });
      await expect(get(url)).rejects.toMatchObject({ code: 'address' });
    },
  );

  it('sends its trace only to listed addresses, and never through a redirect to any host', async () => {
    const heard: (string | undefined)[] = [];
    const url = await listen((request, response) => {
      heard.push(request.headers.traceparent?.toString());
      response.setHeader('content-type', 'application/json').end('{}');
    });
    await get(url);
    const options = { clock: systemClock, timeoutMs: 5000, maxBytes: 1000, connections: 1, allowPrivate: true };
    const telling = createOutboundClient({ ...options, traceContextTo: [`${url}feed`] });
    const signal = new AbortController().signal;
    await telling.getJson({ url: `${url}feed/1`, signal, redirects: 'same-host' });
    await telling.getJson({ url: `${url}feed/1`, signal, redirects: 'any-host' });
    await telling.getJson({ url: `${url}elders`, signal, redirects: 'same-host' });
    await telling.close();
    expect(heard).toEqual([
      undefined,
      expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-02$/),
      undefined,
      undefined,
    ]);
  });

  it('does not follow a redirect to another port of the same host', async () => {
    const url = await listen((request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:1${request.url}` }).end();
    });
    await expect(get(url)).rejects.toMatchObject({ code: 'redirect', message: expect.stringContaining('127.0.0.1:1') });
  });

  it('counts bytes before and after decompression', async () => {
    const empty = gzipSync('');
    const url = await listen((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      const drip = setInterval(() => response.write(empty), 1);
      response.on('close', () => clearInterval(drip));
    });
    await expect(get(url)).rejects.toMatchObject({ code: 'too-large' });
  });

  it.each(HOSTILE_SHAPES)('stops reading %s before building anything from it', async (shape) => {
    const body = gzipSync(hostileJson(shape, 30_000_000));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const url = await listen((_request, response) => response.writeHead(200, headers).end(body), {
      maxBytes: 33_554_432,
    });
    const code = shape.startsWith('nested') ? 'too-deep' : 'too-many-containers';
    await expect(get(url)).rejects.toMatchObject({ code: 'too-large', cause: { code } });
  });

  it('names the cause of a failure', async () => {
    const url = await listen((_request, response) => response.end());
    const closed = url.replace(/:\d+/, ':1');
    await expect(get(closed)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:1'),
    });
    await expect(get('http://bestaat-niet.invalid/')).rejects.toMatchObject({
      message: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    });
  });

  it('follows a redirect on the same host, and reports the final address', async () => {
    const url = await listen((request, response) => {
      if (request.url === '/') response.writeHead(307, { location: '/there' }).end();
      else
        response
          .writeHead(200, { 'content-type': 'application/problem+json; charset=utf-8', etag: '"1"' })
          .end('{"a":1}');
    });
    expect(await get(url)).toMatchObject({ url: `${url}there`, json: { a: 1 }, etag: '"1"', changed: true });
  });

  it('returns the contents for any status', async () => {
    const url = await listen((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/problem+json', 'retry-after': '3' }).end('{"type":"x"}');
    });
    await expect(get(url)).rejects.toMatchObject({
      code: 'status',
      status: 400,
      retryAfterMs: 3000,
      problem: { type: 'x' },
    });
  });

  it('is ended by its signal with the reason of that signal', async () => {
    const url = await listen(() => undefined);
    const stop = new AbortController();
    const call = client?.getJson({ url, signal: stop.signal, redirects: 'same-host' });
    stop.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
  });
});
