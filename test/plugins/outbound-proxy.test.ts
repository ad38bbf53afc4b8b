// Outbound calls use the configured forward proxy; the target is checked all the same.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuardedFetch } from '../../src/lib/outbound/guarded-fetch.ts';
import { createOutboundClient } from '../../src/lib/outbound/outbound-client.ts';
import { systemClock } from '../../src/lib/time.ts';
import { openSupplier } from '../gegevens/support/supplier.ts';

/** Requests to the proxy, with the caller's own headers. */
const asked: string[] = [];
let proxy: Server;
let target: Server;
let proxyPort: number;
let targetPort: number;

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function forward(incoming: IncomingMessage, response: ServerResponse): void {
  const url = new URL(incoming.url ?? '');
  asked.push(`${incoming.method} ${url.href} ${incoming.headers['proxy-authorization'] ?? ''}`.trim());
  // Names that only the proxy can resolve lead to the target here.
  const host = url.hostname.endsWith('.invalid') ? '127.0.0.1' : url.hostname;
  const outgoing = request(
    { host, port: url.port, path: url.pathname, method: incoming.method ?? 'GET', headers: incoming.headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  outgoing.on('error', () => response.writeHead(502).end());
  incoming.pipe(outgoing);
}

beforeAll(async () => {
  proxy = createServer(forward);
  proxy.on('connect', (incoming: IncomingMessage, socket) => {
    const [host = '', port = ''] = (incoming.url ?? '').split(':');
    asked.push(`CONNECT ${incoming.url}`);
    const other = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      other.pipe(socket).pipe(other);
    });
    other.on('error', () => socket.destroy());
  });
  proxyPort = await listen(proxy);
  target = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"door":"proxy"}');
  });
  targetPort = await listen(target);
});
afterAll(() => {
  for (const server of [proxy, target]) {
    server.closeAllConnections();
    server.close();
  }
});

const settings = (except: readonly string[] = []) => ({
  outboundProxy: `http://gebruiker:geheim@127.0.0.1:${proxyPort}`,
  outboundNoProxy: except,
});

describe('a server with OUTBOUND_PROXY', () => {
  it('fetches keys and revocation data through it, except from the listed hosts', async () => {
    const supplier = await openSupplier({
      env: { OUTBOUND_PROXY: `http://gebruiker:geheim@127.0.0.1:${proxyPort}`, GEGEVENS_REVOCATION: 'hard' },
    });
    try {
      const answer = await supplier.ask({});
      expect(answer.status, answer.text).toBe(200);
      const authorization = `Basic ${Buffer.from('gebruiker:geheim').toString('base64')}`;
      expect(asked).toContain(`GET ${supplier.tokens.env.OAUTH_JWKS_URL} ${authorization}`);
      expect(asked).toContain(`POST ${supplier.authority.ocspUrl} ${authorization}`);
      expect(JSON.stringify(supplier.server.logged)).not.toContain('geheim');
      asked.length = 0;
      const server = await supplier.another({ OUTBOUND_NO_PROXY: '127.0.0.1' });
      expect((await supplier.ask({}, { server })).status).toBe(200);
      expect(asked).toEqual([]);
    } finally {
      await supplier.close();
    }
  });
});

describe('the address guard', () => {
  it.each([
    ['a private address', () => `http://127.0.0.1:${targetPort}/`],
    ['a name with a private address', () => `http://localhost:${targetPort}/`],
  ])('keeps %s from the proxy', async (_what, url) => {
    asked.length = 0;
    const guarded = createGuardedFetch({ allowPrivate: false, proxy: settings() });
    const client = createOutboundClient({
      clock: systemClock,
      timeoutMs: 5_000,
      maxBytes: 1_000,
      connections: 1,
      allowPrivate: false,
      proxy: settings(),
    });
    const { signal } = new AbortController();
    const how = { method: 'GET', timeoutMs: 5_000, maxBytes: 1_000, signal } as const;
    await expect(guarded.fetch({ url: url(), ...how })).rejects.toThrow('not a public address');
    await expect(client.getJson({ url: url(), signal, redirects: 'same-host' })).rejects.toThrow('public');
    expect(asked).toEqual([]);
    await guarded.close();
    await client.close();
  });

  it('leaves a name that only the proxy can resolve to the proxy', async () => {
    asked.length = 0;
    const client = createOutboundClient({
      clock: systemClock,
      timeoutMs: 20_000,
      maxBytes: 1_000,
      connections: 1,
      allowPrivate: false,
      proxy: settings(),
    });
    const url = `http://bron.invalid:${targetPort}/feed`;
    const { signal } = new AbortController();
    const answer = await client.getJson({ url, signal, redirects: 'same-host' });
    expect(answer).toMatchObject({ changed: true, json: { door: 'proxy' } });
    expect(asked[0]).toContain(`GET ${url}`);
    await client.close();
  });
});
