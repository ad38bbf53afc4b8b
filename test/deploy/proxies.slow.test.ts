/** The configurations of deploy/nginx/tls.conf and deploy/haproxy, started in front of a server that reports what it receives. */
import { execFileSync, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clientCertificateThumbprint } from '../../src/plugins/oauth/token.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { document, removal, startFeed } from '../raadsfeed/support.ts';
import { freePort } from '../support/free-port.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const NGINX = '/usr/sbin/nginx';
const HAPROXY = '/usr/sbin/haproxy';
const SECRET = 'Persoonsgegeven-Van-Jansen';
const PEM = ['server.pem', 'server-key.pem', 'client-roots.pem', 'client.pem', 'client-key.pem'] as const;

let keys: string;
let dir: string;
let upstreams: Upstream[];
const stops: (() => Promise<unknown>)[] = [];

interface Upstream {
  readonly server: Server;
  readonly port: number;
  readonly paths: string[];
  ready: boolean;
}

beforeAll(async () => {
  keys = await mkdtemp(join(tmpdir(), 'kv-proxy-keys-'));
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: keys, stdio: 'pipe' });
  const mint = (name: string, bits: string, primes = '2'): void => {
    openssl(
      'req',
      '-newkey',
      `rsa:${bits}`,
      '-pkeyopt',
      `rsa_keygen_primes:${primes}`,
      '-nodes',
      '-keyout',
      `${name}-key.pem`,
      '-subj',
      `/CN=${name}`,
      '-out',
      `${name}.csr`,
    );
    const ca = ['-CA', 'client-roots.pem', '-CAkey', 'root-key.pem', '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', `${name}.csr`, ...ca, '-out', `${name}.pem`);
  };
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'root-key.pem',
    '-subj',
    '/CN=root',
    '-days',
    '2',
    '-out',
    'client-roots.pem',
  );
  mint('server', '2048');
  // As long as PKIoverheid certificates; with more primes, which are found ten times as fast.
  mint('client', '4096', '4');
});
afterAll(() => rm(keys, { recursive: true, force: true }));

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kv-proxy-'));
  for (const name of PEM) await writeFile(join(dir, name), await readFile(join(keys, name)));
  upstreams = [await listen(), await listen()];
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
  for (const { server } of upstreams) {
    server.closeAllConnections();
    server.close();
  }
  await rm(dir, { recursive: true, force: true });
});

/** Answers with the headers that it received; the feed with a max-age of an hour, and with a rate-limit count. */
async function listen(): Promise<Upstream> {
  const upstream: Upstream = {
    paths: [],
    ready: true,
    port: await freePort(),
    server: createServer({ maxHeaderSize: 131_072 }, (incoming, response) => {
      if (incoming.url === '/health/ready') {
        response.writeHead(upstream.ready ? 200 : 503).end();
        return;
      }
      upstream.paths.push(String(incoming.url));
      const age = incoming.url?.startsWith('/ori/v1/feed') ? 'public, max-age=3600' : 'no-store';
      response.writeHead(200, {
        'content-type': 'application/json',
        'cache-control': age,
        vary: 'Accept-Encoding',
        'x-ratelimit-remaining': '7',
        'x-long': 'x'.repeat(20_000),
      });
      incoming.resume().on('end', () => response.end(JSON.stringify(incoming.headers)));
    }),
  };
  upstream.server.listen(upstream.port, '127.0.0.1');
  await once(upstream.server, 'listening');
  return upstream;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Headers that reached the upstream. */
  readonly reached: Record<string, string>;
}

async function ask(
  port: number,
  path: string,
  options: { certificate?: boolean; headers?: Record<string, string>; method?: string; body?: Uint8Array } = {},
): Promise<Answer> {
  const own = options.certificate
    ? { cert: await readFile(join(keys, 'client.pem')), key: await readFile(join(keys, 'client-key.pem')) }
    : {};
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = request(
    {
      port,
      path,
      method: options.method ?? 'GET',
      host: '127.0.0.1',
      rejectUnauthorized: false,
      agent: false,
      headers: options.headers ?? {},
      maxHeaderSize: 131_072,
      ...own,
    },
    async (response) => {
      const body = await text(response);
      resolve({
        status: response.statusCode,
        headers: response.headers,
        body,
        reached: response.statusCode === 200 ? JSON.parse(body) : {},
      });
    },
  );
  outgoing.on('error', reject);
  outgoing.end(options.body);
  return promise;
}

async function start(program: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(program, args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const complaints = text(child.stderr);
  stops.push(() => {
    child.kill('SIGTERM');
    return ended;
  });
  const status = async (): Promise<unknown> => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${await complaints}`);
    return (await ask(port, '/').catch(() => undefined))?.status;
  };
  await expect.poll(status).toBeTypeOf('number');
}

interface NginxOptions {
  /** Path under deploy/. */
  readonly file?: string;
  /** Ports of the two instances. */
  readonly ports?: readonly (number | undefined)[];
  readonly change?: (recipe: string) => string;
}

async function startNginx({
  file = 'nginx/tls.conf',
  ports = upstreams.map((upstream) => upstream.port),
  change = (recipe) => recipe,
}: NginxOptions = {}): Promise<number> {
  const port = await freePort();
  const own = join(dir, String(port));
  await mkdir(own);
  const recipe = change(await readFile(join(DEPLOY, file), 'utf8'))
    .replaceAll(/127\.0\.0\.1:(8080|8101)/g, `127.0.0.1:${ports[0]}`)
    .replaceAll(/127\.0\.0\.1:(8081|8102)/g, `127.0.0.1:${ports[1]}`)
    .replaceAll('127.0.0.1:8443', `127.0.0.1:${port}`)
    .replace(
      '127.0.0.1:8000;',
      `127.0.0.1:${port} ssl; ssl_certificate server.pem; ssl_certificate_key server-key.pem;`,
    )
    .replace(/[\w-]+\.pem/g, (name) => join(dir, name));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${own}/${name};`);
  await writeFile(join(own, 'tls.conf'), recipe);
  await writeFile(
    join(own, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${own}/nginx.pid; error_log ${own}/error.log;
     events {} http { access_log off; ${paths.join(' ')} include tls.conf; }`,
  );
  await start(NGINX, ['-p', own, '-e', join(own, 'error.log'), '-c', join(own, 'nginx.conf')], port);
  return port;
}

async function startHaproxy(): Promise<number> {
  const port = await freePort();
  const recipe = (await readFile(join(DEPLOY, 'haproxy/koppelvlak.cfg'), 'utf8'))
    .replace('127.0.0.1:8080 port 9090', `127.0.0.1:${upstreams[0]?.port} port ${upstreams[0]?.port}`)
    .replace('127.0.0.1:8081 port 9091', `127.0.0.1:${upstreams[1]?.port} port ${upstreams[1]?.port}`)
    .replace('127.0.0.1:8443', `127.0.0.1:${port}`)
    .replace('crt server.pem', 'crt server-and-key.pem');
  const pair = await Promise.all(['server.pem', 'server-key.pem'].map((name) => readFile(join(dir, name), 'utf8')));
  await writeFile(join(dir, 'server-and-key.pem'), pair.join(''));
  await writeFile(join(dir, 'haproxy.cfg'), recipe);
  await start(HAPROXY, ['-db', '-f', 'haproxy.cfg'], port);
  return port;
}

const PROXIES = [
  ['nginx', NGINX, startNginx],
  ['HAProxy', HAPROXY, startHaproxy],
] as const;

describe.each(PROXIES)('%s', (_name, program, startProxy) => {
  const itRuns = it.runIf(existsSync(program));

  itRuns('passes on the client certificate, and no header that a client forged', async () => {
    const port = await startProxy();
    const { raw } = new X509Certificate(await readFile(join(keys, 'client.pem')));
    const { reached } = await ask(port, '/', { certificate: true, headers: { 'client-cert': ':Zm91dA==:' } });
    expect(reached['client-cert']).toBe(`:${raw.toString('base64')}:`);
    expect(() => clientCertificateThumbprint(String(reached['client-cert']))).not.toThrow();
    const without = await ask(port, '/', { headers: { 'client-cert': ':Zm91dA==:' } });
    expect(without.reached['client-cert'] ?? '').toBe('');
  });

  itRuns("passes on the client's address, and a long signature both ways", async () => {
    const port = await startProxy();
    const signature = 's'.repeat(24_000);
    const headers = { 'nlgov-adr-payload-sig': signature, 'x-forwarded-for': '203.0.113.9' };
    const { status, headers: answered, reached } = await ask(port, '/shv/v1/gegevens', { method: 'POST', headers });
    expect(status).toBe(200);
    expect(reached['nlgov-adr-payload-sig']).toBe(signature);
    expect(reached['x-forwarded-for']).toBe('127.0.0.1');
    expect(String(answered['x-long'])).toHaveLength(20_000);
  });

  itRuns('retries on the other instance when one refuses connections', async () => {
    const port = await startProxy();
    const [first] = upstreams;
    first?.server.closeAllConnections();
    first?.server.close();
    for (let n = 0; n < 10; n += 1) {
      expect((await ask(port, '/verwerkingenlog/v1/verwerkingsacties', { method: 'POST' })).status).toBe(200);
    }
  });
});

describe.runIf(existsSync(NGINX)).each(['nginx/koppelvlak.conf', 'nginx/tls.conf', 'organisations/nginx.conf'])(
  'deploy/%s',
  (file) => {
    const { server, ldv } = readConfig({}, 'tool');
    it.each([
      ['/shv/v1/gegevens', server.bodyLimitBytes],
      ['/vs/v1/gegevens', server.bodyLimitBytes],
      ['/verwerkingenlog/v1/verwerkingsacties', server.bodyLimitBytes],
      [`${ldv.prefix}/traces`, ldv.bodyLimitBytes],
    ])('passes the largest request that the service accepts at %s', async (path, bytes) => {
      const port = await startNginx({ file });
      const headers = { host: 'gm0001.centrum.example' };
      const { status } = await ask(port, path, { method: 'POST', headers, body: Buffer.alloc(bytes, ' ') });
      expect(status).toBe(200);
    });
  },
);

it.runIf(existsSync(NGINX))('nginx routes each organisation to its own process, and refuses other names', async () => {
  const port = await startNginx({ file: 'organisations/nginx.conf' });
  const as = (host: string, headers = {}): Promise<Answer> => ask(port, '/x', { headers: { host, ...headers } });
  const { reached } = await as('GM0002.centrum.example', { 'client-cert': ':Zm91dA==:' });
  expect(reached.host).toBe('gm0002.centrum.example');
  expect(reached['client-cert'] ?? '').toBe('');
  expect(reached['x-forwarded-for']).toBe('127.0.0.1');
  await as('gm0001.centrum.example');
  for (const host of ['gm0003.centrum.example', '127.0.0.1', 'centrum.example'])
    expect((await as(host)).status, host).toBe(421);
  expect(upstreams.map(({ paths }) => paths)).toEqual([['/x'], ['/x']]);
});

describe.runIf(existsSync(NGINX))('the cache of nginx for the feed', () => {
  /** Whole seconds since the first request: a page is cached for one, so each of them allows one more request to the service. */
  const clock = (): (() => number) => {
    const began = performance.now();
    return () => Math.floor((performance.now() - began) / 1000);
  };
  const times = (path: string): number => upstreams.flatMap(({ paths }) => paths).filter((one) => one === path).length;

  it('caches a page for a second, whatever its max-age, and no other answer', async () => {
    const port = await startNginx();
    const seconds = clock();
    for (let n = 0; n < 5; n += 1) await ask(port, '/ori/v1/feed?limit=5');
    expect(times('/ori/v1/feed?limit=5')).toBeLessThanOrEqual(1 + seconds());
    let { headers } = await ask(port, '/ori/v1/feed?limit=5');
    const isKept = async () => {
      ({ headers } = await ask(port, '/ori/v1/feed?limit=5'));
      return headers['x-cache-status'];
    };
    await expect.poll(isKept).toBe('HIT');
    expect(headers['x-ratelimit-remaining']).toBeUndefined();
    await ask(port, '/ori/v1/feed?limit=6');
    expect(times('/ori/v1/feed?limit=6')).toBe(1);
    for (let n = 0; n < 2; n += 1) await ask(port, '/verwerkingenlog/v1/verwerkingsacties');
    expect(times('/verwerkingenlog/v1/verwerkingsacties')).toBe(2);
    const before = times('/ori/v1/feed?limit=5');
    await sleep(2100);
    await ask(port, '/ori/v1/feed?limit=5');
    expect(times('/ori/v1/feed?limit=5')).toBe(before + 1);
  });

  it('has one copy for each encoding that the service offers, and passes on no other headers of the reader', async () => {
    const port = await startNginx();
    const encodings = {
      zstd: ['gzip, deflate, br, zstd', 'zstd', 'gzip;q=1.0, zstd;q=0.5'],
      br: ['gzip, deflate, br', 'zstd;q=0, br', 'BR;q=0.01'],
      gzip: ['gzip', 'deflate, gzip;q=0.8', 'br;q=0.0,gzip'],
      none: ['', 'identity', 'gzip;q=0', 'deflate', 'zstandard, x-gzip'],
    };
    const seconds = clock();
    for (const [encoding, written] of Object.entries(encodings)) {
      for (const value of written) {
        const { reached } = await ask(port, '/ori/v1/feed', { headers: { 'accept-encoding': value } });
        expect(reached['accept-encoding'], value).toBe(encoding);
        expect(reached['x-forwarded-for']).toBe('127.0.0.1');
      }
    }
    expect(times('/ori/v1/feed')).toBeLessThanOrEqual(Object.keys(encodings).length * (1 + seconds()));
  });

  it('drops a redacted text within two seconds, where `updating` does not; concurrent readers cause one request', async () => {
    const feed = await startFeed();
    stops.push(() => feed.stop());
    await feed.publish([document('d-1', { omschrijving: SECRET }), document('d-2')]);
    const own = Number(new URL(feed.server.url).port);
    const ports = [own, own];
    const updating = (recipe: string): string => recipe.replace('use_stale off', 'use_stale updating');
    const [port, naive] = [await startNginx({ ports }), await startNginx({ ports, change: updating })];
    const path = '/ori/v1/feed?limit=7';
    const crowd = (to: number, size: number): Promise<Answer[]> =>
      Promise.all(Array.from({ length: size }, () => ask(to, path)));
    const withText = (answers: readonly Answer[]): number => answers.filter(({ body }) => body.includes(SECRET)).length;
    const reached = async (): Promise<number> => {
      const text = await (await fetch(`${feed.server.managementUrl}/metrics`)).text();
      const counts = [...text.matchAll(/request_duration_seconds_count\{[^}]*route="\/ori\/v1\/feed"[^}]*\} (\d+)/g)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await reached();
    // Within the second for which a page at the head is cached.
    const seconds = clock();
    expect(withText(await crowd(port, 60))).toBe(60);
    const most = before + 1 + seconds();
    await expect.poll(reached).toBeGreaterThan(before);
    expect(await reached()).toBeLessThanOrEqual(most);
    expect(withText(await crowd(naive, 5))).toBe(5);

    await feed.publish([removal('redact', 'Informatieobject', 'd-1')]);
    await sleep(2000);
    const [honest, stale] = [await crowd(port, 50), await crowd(naive, 50)];
    expect(honest.map(({ status }) => status)).toEqual(honest.map(() => 200));
    expect(withText(honest)).toBe(0);
    // Left out of the file on purpose.
    expect(withText(stale)).toBeGreaterThan(0);
  });
});

it.runIf(existsSync(HAPROXY))('HAProxy leaves out an instance that is not ready', async () => {
  const port = await startHaproxy();
  const [first, second] = upstreams;
  if (first === undefined || second === undefined) throw new Error('two instances are needed');
  first.ready = false;
  const asked = async (): Promise<readonly string[]> => {
    first.paths.length = 0;
    for (let n = 0; n < 6; n += 1) expect((await ask(port, '/')).status).toBe(200);
    return [...first.paths];
  };
  // After two checks, half a second apart.
  await expect.poll(asked, { interval: 500 }).toEqual([]);
});
