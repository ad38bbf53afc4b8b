import { createServer, type RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGuardedFetch, type GuardedFetchOptions } from '../../../src/lib/outbound/guarded-fetch.ts';

const request = { method: 'GET', timeoutMs: 5000, maxBytes: 1_000, signal: new AbortController().signal } as const;

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function fetchWith(options: GuardedFetchOptions) {
  const guarded = createGuardedFetch(options);
  onTestFinished(() => guarded.close());
  return guarded.fetch;
}

/** The innermost reason of a failed fetch. */
async function reason(outcome: Promise<unknown>): Promise<string> {
  try {
    await outcome;
    return 'answered';
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

describe('the guarded fetch', () => {
  it('returns the bytes of an answer, and sends the given request', async () => {
    const port = await serve(async (incoming, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of incoming) pieces.push(piece);
      response.end(`${incoming.method} ${incoming.headers['content-type']} ${Buffer.concat(pieces)}`);
    });
    const fetch = fetchWith({ allowPrivate: true });
    const answer = await fetch({
      ...request,
      url: `http://127.0.0.1:${port}/x`,
      method: 'POST',
      body: Buffer.from('vraag'),
      contentType: 'application/ocsp-request',
    });
    expect(Buffer.from(answer).toString()).toBe('POST application/ocsp-request vraag');
  });

  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://192.168.1.1/',
    'http://[fe80::1]/',
    'https://127.0.0.1/',
    'http://127.0.0.1.:80/',
  ])('refuses the inner address in %s', async (url) => {
    expect(await reason(fetchWith({ allowPrivate: false })({ ...request, url }))).toMatch(
      /not a public address|never called/,
    );
  });

  it.each(['http://localhost/', 'http://LOCALHOST:8080/'])(
    'refuses a name that resolves to an inner address: %s',
    async (url) => {
      expect(await reason(fetchWith({ allowPrivate: false })({ ...request, url }))).toMatch(
        /not a public address|never called/,
      );
    },
  );

  it('refuses a name that has one inner address among others', async () => {
    const fetch = fetchWith({
      allowPrivate: false,
      resolve: (_host, done) =>
        done(null, [
          { address: '1.1.1.1', family: 4 },
          { address: '10.0.0.1', family: 4 },
        ]),
    });
    expect(await reason(fetch({ ...request, url: 'http://ocsp.example/' }))).toMatch(
      /not a public address|never called/,
    );
  });

  it('checks the address of the connection itself, so that a changing DNS record gains nothing', async () => {
    let asked = 0;
    const fetch = fetchWith({
      allowPrivate: false,
      resolve: (_host, done) => {
        asked += 1;
        done(null, [{ address: asked === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }]);
      },
    });
    expect(await reason(fetch({ ...request, url: 'http://ocsp.example/' }))).toMatch(
      /not a public address|never called/,
    );
    expect(await reason(fetch({ ...request, url: 'http://ocsp.example/' }))).toMatch(
      /not a public address|never called/,
    );
    expect(asked).toBe(2);
  });

  it('connects to the address that was resolved', async () => {
    const port = await serve((incoming, response) => response.end(incoming.headers.host));
    const fetch = fetchWith({
      allowPrivate: true,
      resolve: (_h, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const answer = await fetch({ ...request, url: `http://ocsp.example:${port}/` });
    expect(Buffer.from(answer).toString()).toBe(`ocsp.example:${port}`);
  });

  it('fails when a name does not resolve', async () => {
    const fetch = fetchWith({ allowPrivate: true, resolve: (_h, done) => done(new Error('ENOTFOUND'), []) });
    expect(await reason(fetch({ ...request, url: 'http://ocsp.example/' }))).toContain('ENOTFOUND');
  });

  it.each(['ftp://example.nl/', 'file:///etc/passwd', 'data:,x', 'http://user:secret@example.nl/'])(
    'refuses %s',
    async (url) =>
      expect(await reason(fetchWith({ allowPrivate: true })({ ...request, url }))).toMatch(/scheme|credentials/),
  );

  it.each<[string, RequestListener, RegExp]>([
    ['another status', (_, response) => void response.writeHead(500).end('x'), /status 500/],
    ['no content', (_, response) => void response.writeHead(204).end(), /status 204/],
    [
      'too large an announced size',
      (_, r) => void r.writeHead(200, { 'content-length': 2_000 }).end(Buffer.alloc(2_000)),
      /larger than/,
    ],
    ['too large an actual size', (_, response) => void response.writeHead(200).end(Buffer.alloc(2_000)), /larger than/],
    ['silence', () => undefined, /TimeoutError/],
    ['headers and then silence', (_, response) => response.writeHead(200).flushHeaders(), /TimeoutError/],
    [
      'a broken answer',
      (_, response) => void response.writeHead(200, { 'content-length': 10 }).end('x', () => response.destroy()),
      /.+/,
    ],
    [
      'a redirect to another host',
      (_, r) => void r.writeHead(302, { location: 'http://localhost/x' }).end(),
      /another host/,
    ],
    [
      'a redirect to another port',
      (_, r) => void r.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end(),
      /another host/,
    ],
    [
      'a redirect to another scheme',
      (_, r) => void r.writeHead(302, { location: 'ftp://127.0.0.1/x' }).end(),
      /scheme/,
    ],
    ['a redirect without an address', (_, r) => void r.writeHead(302).end(), /status 302/],
    ['an unreadable redirect', (_, r) => void r.writeHead(302, { location: 'http://[' }).end(), /.+/],
    ['endless redirects', (_, r) => void r.writeHead(307, { location: '/again' }).end(), /too many redirects/],
  ])('fails on %s, and then works again', async (_case, listener, expected) => {
    let honest = false;
    const port = await serve((incoming, response) => (honest ? response.end('goed') : listener(incoming, response)));
    const fetch = fetchWith({ allowPrivate: true });
    const url = `http://127.0.0.1:${port}/x`;
    const timeoutMs = String(expected).includes('Timeout') ? 500 : request.timeoutMs;
    expect(await reason(fetch({ ...request, url, timeoutMs }))).toMatch(expected);
    honest = true;
    expect(Buffer.from(await fetch({ ...request, url })).toString()).toBe('goed');
  });

  it('follows a redirect on the same host with the same request', async () => {
    const port = await serve((incoming, response) => {
      if (incoming.url === '/x') response.writeHead(307, { location: '/y' }).end('elsewhere');
      else response.end(`${incoming.method} ${incoming.url}`);
    });
    const answer = await fetchWith({ allowPrivate: true })({
      ...request,
      url: `http://127.0.0.1:${port}/x`,
      method: 'POST',
    });
    expect(Buffer.from(answer).toString()).toBe('POST /y');
  });

  it('stops when its signal fires', async () => {
    const port = await serve(() => undefined);
    const stop = new AbortController();
    const outcome = reason(
      fetchWith({ allowPrivate: true })({
        ...request,
        url: `http://127.0.0.1:${port}/`,
        timeoutMs: 60_000,
        signal: stop.signal,
      }),
    );
    stop.abort(new Error('told to'));
    expect(await outcome).toContain('told to');
  });
});
