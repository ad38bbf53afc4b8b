/** No address gets a 500: every route of the service and of its management, with odd values in each path and query parameter. */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import { createLogger } from '../../src/lib/log.ts';
import { listOperations, readOpenapi } from '../../src/lib/openapi-document.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createProofWriters } from '../../src/proof/writer.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';
import { stateFile } from '../proof/support.ts';
import { realMeeting } from '../raadsfeed/pages/pages-fixture.ts';
import { changeOf, servicePool } from '../raadsfeed/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { readTestConfig } from '../support/overrides.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { Browser, inzageEnv, leave, newBsn, type Provider, startProvider } from '../verwerkingenlog/inzage/support.ts';
import { HEADERS, KEY } from '../verwerkingenlog/support.ts';

/** Values of a parameter, encoded as they are sent. */
const ODD = [
  ...['', '%00', 'a%00b', '%00%00', 'gm9901%00', '1%00', '%2500', '%zz', '%', '%2', '%u0000', '%c0%80', '%e0%80%80'],
  ...['%ed%a0%80', '%ed%bf%bf', '%ed%a0%bd%ed%b8%80', '%ff', '%fe%ff', '%80', '%c3', '%f4%90%80%80', '%f8%88%80%80%80'],
  ...[
    '%2e',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%5c..',
    '.',
    '..',
    '%2f',
    '%2f%2f',
    '%5c',
    '%3b',
    '%3f',
    '%23',
  ],
  ...[
    '%f0%9f%98%80',
    '%f0%9f%91%a8%e2%80%8d%f0%9f%91%a9',
    '%e2%80%ae',
    '%ef%bb%bf',
    '%e2%80%8b',
    '%ef%bf%bf',
    '%cc%81',
  ],
  ...['%01', '%07', '%08', '%0a', '%0d%0aSet-Cookie:%20a=b', '%1b%5b31m', '%7f', '%c2%85', '%20', '+', '%09', '%a0'],
  ...[
    '0',
    '-1',
    '1',
    '1.5',
    '1e9',
    '1e400',
    'NaN',
    'Infinity',
    '-0',
    '0x10',
    '007',
    '%d9%a1%d9%a2',
    '2147483648',
    '4294967296',
  ],
  ...[
    '9007199254740993',
    '9223372036854775807',
    '9223372036854775808',
    '99999999999999999999',
    '-9223372036854775809',
    '9'.repeat(400),
  ],
  ...[
    '2026-02-30',
    '0000-00-00',
    '9999-12-31',
    '2026-13',
    '1900-01',
    '-271821-04-20',
    '275760-09-14',
    '2026-01-01T00:00:00%2B99:99',
  ],
  ...[
    'null',
    'undefined',
    'true',
    '%5b%5d',
    '%7b%7d',
    '%22',
    '%27',
    "'%20or%201=1--",
    '%25',
    '_',
    '%2a',
    '%24%7b7*7%7d',
    '%7b%7b7*7%7d',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'gm9901', 'GM9901', 'gm0000', 'pv99', 'ws9999'],
  ...[
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
  ],
  ...[
    'sha256:00',
    'WzEsIngiXQ',
    'e30',
    'javascript:alert(1)',
    '%3cscript%3e',
    'http:%2f%2f127.0.0.1',
    '-%22',
    '%22%22',
    'a'.repeat(501),
  ],
  ...['a'.repeat(10_240), '%41'.repeat(3000), '%00'.repeat(2000), '%f0%9f%98%80'.repeat(500)],
];
/** The values of a query parameter: the routes share their parsers. */
const ODD_IN_QUERY = [
  ...['%00', 'a%00b', '%zz', '%c0%80', '%ed%a0%80', '%ff', '%2500', '%f0%9f%98%80', '__proto__', '%5b%5d', '%22', '-1'],
  ...['9223372036854775808', '99999999999999999999', '1e400', '2026-02-30', '9999-12-31', '0000-00', 'a'.repeat(1000)],
];
/** Parameters of the pages; those of the interfaces are in their contracts. */
const OF_PAGES: Readonly<Record<string, readonly string[]>> = {
  '/raad': [
    ...['q', 'organisatie', 'gremium', 'soort', 'van', 'tot', 'komend', 'sorteer', 'pagina'],
    ...['maand', 'vanaf', 'deel', 'voor'],
  ],
  '/inzage': ['van', 'tot', 'activiteit', 'cursor', 'alles', 'code', 'state', 'iss', 'error'],
};

const OPERATIONS = ['gegevens', 'verwerkingenlog', 'ldv', 'raadsfeed'].flatMap((name) =>
  listOperations(readOpenapi(new URL(`../../openapi/${name}.yaml`, import.meta.url))),
);
const SCOPES = OPERATIONS.flatMap(({ scopes }) => scopes ?? []);

let dir: string;
let database: TestDatabase;
let tokens: TestTokens;
let provider: Provider;
let app: FastifyInstance;
let citizen: Browser;
const proof = stateFile();
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-odd-'));
  const authority = await createAuthority({ dir, port: 0 });
  await authority.close();
  [database, tokens, provider] = await Promise.all([createDatabase(), startTokens(), startProvider()]);
  const env = {
    ...{
      NODE_ENV: 'test',
      DATABASE_URL: database.url,
      'server.overloadEventLoopDelayMs': '0',
      'server.requestTimeoutMs': '45000',
    },
    ...tokens.env,
    VERWERKINGENLOG_KEY: KEY,
    GEGEVENS_RATE_LIMIT: '0',
    RAADSFEED_RATE_LIMIT: '0',
    GEGEVENS_TRUST_ANCHORS: authority.root,
    GEGEVENS_SIGNING_KEY: authority.supplier.key,
    GEGEVENS_SIGNING_CHAIN: authority.supplier.chain,
    RAADSFEED_REGISTER: 'true',
    RAADSFEED_PAGES: 'true',
    RAADSFEED_DIWOO: 'true',
    ...proof.env,
    ...inzageEnv(provider.issuer),
  };
  const config = readTestConfig(env, 'serve');
  app = await buildApp({ config, log: createLogger('silent') });
  await app.listen({ port: 0, host: '127.0.0.1' });
  await app.management.listen({ port: 0, host: '127.0.0.1' });
  const pool = servicePool(database.url);
  const publisher = createPublisher({ pool, clock: systemClock, proof: createProofWriters(config) });
  await publisher.publish(realMeeting().map(changeOf));
  await pool.end();
  citizen = new Browser(addressOf(app));
  await citizen.open(await leave(citizen, newBsn()));
  // The index follows a moment later.
  while (!(await ask(app, 'GET', '/raad/gm0363')).text.includes('/raad/gm0363/vergaderingen/')) await sleep(50);
});
afterAll(async () => {
  agent.destroy();
  await app?.close();
  await Promise.all([tokens?.close(), provider?.close()]);
  await database?.drop();
  proof.remove();
  await rm(dir, { recursive: true, force: true });
});

const addressOf = (server: FastifyInstance): string => server.listeningOrigin;

/** One request with its address exactly as written. */
async function ask(server: FastifyInstance, method: string, path: string): Promise<{ status: number; text: string }> {
  const { authorization } = await tokens.bearer(SCOPES);
  const cookie = [...(citizen?.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  return new Promise((resolve, reject) => {
    request(
      addressOf(server),
      { agent, method, path, timeout: 20_000, headers: { ...HEADERS, authorization, cookie } },
      (answer) => {
        // A stream never ends.
        if (answer.headers['content-type']?.startsWith('text/event-stream')) {
          answer.destroy();
          resolve({ status: answer.statusCode ?? 0, text: '' });
          return;
        }
        const pieces: Buffer[] = [];
        answer.on('data', (piece) => pieces.push(piece));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() }));
      },
    )
      .on('error', reject)
      .on('timeout', () => reject(new Error(`no answer to ${path.slice(0, 200)}`)))
      .end();
  });
}

/** Addresses that get a server error, or no answer. */
async function faulty(server: FastifyInstance, addresses: readonly (readonly [string, string])[]): Promise<string[]> {
  const faults: string[] = [];
  const waiting = [...addresses];
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [method, path] = next;
      const status = await ask(server, method, path).then(
        (answer) => answer.status,
        (error: unknown) => String(error),
      );
      if (typeof status === 'string' || status >= 500) faults.push(`${method} ${path.slice(0, 200)} -> ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return faults;
}

const PARAMETER = /:\w+(?:\([^)]*\))?/g;
/** Existing data, so that code after a parameter lookup is reached. */
const RIGHT: Readonly<Record<string, string>> = {
  ':organisatiecode': 'gm0363',
  ':collection': 'vergaderingen',
  ':bronidentificatie': 'x',
};

/** The addresses of a route with this value in each of its parameters, one at a time. */
function withValue(url: string, value: string): string[] {
  const names = [...url.matchAll(PARAMETER), ...url.matchAll(/\*$/g)];
  return names.map(({ 0: name, index }) => {
    const before = url.slice(0, index);
    const after = url.slice(index + name.length);
    return `${filled(before)}${value}${filled(after)}`;
  });
}

const filled = (url: string): string => url.replaceAll(PARAMETER, (name) => RIGHT[name] ?? 'x').replace(/\*$/, 'x');

describe('no address gets a 500', () => {
  it('with an odd value in a path parameter', async () => {
    const routes = app.routePolicies().filter(({ method }) => method !== 'HEAD');
    const addresses = routes.flatMap(({ method, url }) =>
      ODD.flatMap((value) => withValue(url, value)).map((path) => [method, path] as const),
    );
    expect(ODD.length).toBeGreaterThanOrEqual(100);
    expect(new Set(addresses.map(([, path]) => path.split('/')[1])).size).toBeGreaterThan(8);
    expect(await faulty(app, addresses)).toEqual([]);
  });

  it('with an odd value in a query parameter', async () => {
    const routes = app.routePolicies().filter(({ method }) => method !== 'HEAD');
    const namesOf = new Map(
      OPERATIONS.map(({ operationId, parameters }) => [
        operationId,
        parameters.filter((one) => one.in === 'query').map(({ name }) => name),
      ]),
    );
    const addresses = routes.flatMap(({ method, url, operationId }) => {
      const names = namesOf.get(operationId ?? '') ?? OF_PAGES[`/${url.split('/')[1]}`] ?? ['x'];
      return names.flatMap((name) => ODD_IN_QUERY.map((value) => [method, `${filled(url)}?${name}=${value}`] as const));
    });
    expect(addresses.length).toBeGreaterThan(5000);
    expect(await faulty(app, addresses)).toEqual([]);
  });

  it('below the root, the areas and the pages, and on the management listener', async () => {
    const places = ['/', '/raad/', '/inzage/', '/woo/', '/proof/v1/', '/ori/v1/', '/verwerkingenlog/v1/', '/shv/v1/'];
    const ownPlaces = ['/', '/health/', '/metrics/', '/health/ready?x=', '/?x=', '/metrics?x='];
    const addresses = (under: readonly string[]) =>
      under.flatMap((place) => ODD.map((value) => ['GET', place + value] as const));
    expect(await faulty(app, addresses(places))).toEqual([]);
    expect(await faulty(app.management, addresses(ownPlaces))).toEqual([]);
  });
});

const COLLECTIONS = ['vergaderingen', 'agendapunten', 'informatieobjecten'];

it.each([
  ...COLLECTIONS.flatMap((name) => [`/raad/gm0363/${name}/a%00b`, `/raad/gm0363/${name}/%00/geschiedenis`]),
  ...['/raad/gm0363/vergaderingen/%00/agenda.csv', '/raad/gm0363/vergaderingen/%00/agendapunten'],
  ...['/raad/zoeken?gremium=%00', '/raad/zoeken.csv?gremium=a%00', '/raad/gm0363?gremium=%00', '/raad/gm%00363'],
])('a page whose address contains NUL says that the address is wrong: %s', async (path) => {
  const { status, text } = await ask(app, 'GET', path);
  expect(status).toBe(400);
  expect(text).toContain('>Dit adres klopt niet</h1>');
});

it.each([
  ['/ori/v1/organisaties/gm0363/vergaderingen/a%00b', 'bronidentificatie'],
  ['/ori/v1/feed?cursor=%00', 'cursor'],
  ['/verwerkingenlog/v1/verwerkingsacties/%00', 'actieId'],
  ['/verwerkingenlog/v1/verwerkingsacties?objecttype=persoon&soortObjectId=BSN&objectId=a%00b', 'objectId'],
])('an interface address that contains NUL names the parameter: %s', async (path, name) => {
  const { status, text } = await ask(app, 'GET', path);
  expect(status).toBe(400);
  expect(JSON.parse(text).invalidParams).toContainEqual({
    name,
    code: 'pattern',
    reason: 'bevat het teken U+0000, dat nergens in voorkomt',
  });
});
