/** `gegevens preflight`: each line fails for its own reason with what to do, says nothing secret, and waits for nobody for long. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { keyUsage } from '../../src/demo/authority/certificates.ts';
import { type LeafRequest, leafExtensions, mintLeaf } from '../../src/demo/authority/profiles.ts';
import { createDatabase } from '../support/database.ts';
import { callProgram } from '../support/program.ts';
import { toPkcs12 } from './support/key-files.ts';
import { send } from './support/requester.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

interface Line {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
  readonly todo?: string;
}

const SECRETS = ['geheim-van-de-database', 'geheim-van-de-proxy', 'geheim-van-het-bestand'];
/** What every run of this file has shown. */
const shown: string[] = [];

let dir: string;
let supplier: Supplier;
let tokenFile: string;
let transport: string;
let environment: Record<string, string>;
const servers: Server[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'preflight-'));
  supplier = await openSupplier();
  tokenFile = join(dir, 'token.txt');
  writeFileSync(tokenFile, await supplier.tokens.token(['read']));
  SECRETS.push(readFileSync(tokenFile, 'utf8'));
  transport = write('verbinding.pem', mint().chain);
  environment = {
    ...supplier.env,
    AREAS: 'shv,vs',
    NODE_ENV: 'test',
    DATABASE_URL: supplier.databaseUrl,
    PUBLIC_BASE_URL: supplier.server.url,
    FSC_TOKEN_CERTIFICATES: transport,
    FSC_GROUP_ID: 'fsc-test',
    FSC_PEER_ID: supplier.authority.supplier.oin,
    FSC_AUDIENCE: 'https://inway.example:443',
  };
});
afterEach(() => {
  supplier.authority.behaviour.ocsp = 'honest';
  supplier.authority.behaviour.crl = 'honest';
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
afterAll(async () => {
  await supplier.close();
  rmSync(dir, { recursive: true });
  const all = shown.join('\n');
  for (const secret of SECRETS) expect(all).not.toContain(secret);
  expect(all).not.toMatch(/PRIVATE KEY/);
});

function write(name: string, contents: string | Buffer): string {
  const path = join(dir, name);
  writeFileSync(path, contents);
  return path;
}

/** A key with a certificate of the authority that differs in what is given. */
function mint(wishes: Partial<LeafRequest> & { bits?: number; days?: number; pair?: KeyObject } = {}) {
  const { bits = 2048, days = 365, pair, ...given } = wishes;
  const key = pair ?? generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;
  const { authority } = supplier;
  const leaf = mintLeaf({
    ...{ key, issuer: authority.issuers.intermediate, now: new Date(), organization: 'Voorbeeld Leverancier' },
    ...{ oin: authority.supplier.oin, ocspUrl: authority.ocspUrl, crlUrl: authority.crlUrl },
    notBefore: new Date(Date.now() - 40 * 86_400_000),
    notAfter: new Date(Date.now() + days * 86_400_000),
    ...given,
  });
  const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, leaf, keyPem, chain: `${leaf}${readFileSync(authority.intermediate, 'utf8')}` };
}

/** The settings of a key and a chain. */
function signedWith({ keyPem, chain }: { keyPem: string; chain: string }): Record<string, string> {
  return { GEGEVENS_SIGNING_KEY: write('key.pem', keyPem), GEGEVENS_SIGNING_CHAIN: write('chain.pem', chain) };
}

interface Ran {
  readonly status: number | null;
  readonly stderr: string;
  readonly lines: Record<string, Line>;
  readonly dataSheet: Record<string, unknown>;
}

async function run(changes: Record<string, string> = {}, ...words: string[]): Promise<Ran> {
  const more = words.includes('--transport-certificate') ? words : [...words, '--transport-certificate', transport];
  const { status, stdout, stderr } = await callProgram(['gegevens', 'preflight', '--json', '--timeout', '5', ...more], {
    ...environment,
    ...changes,
  });
  shown.push(stdout, stderr);
  const result = stdout === '' ? { lines: [], dataSheet: {} } : JSON.parse(stdout);
  expect(result.ok ?? false).toBe(status === 0);
  return {
    ...{ status, stderr, dataSheet: result.dataSheet },
    lines: Object.fromEntries(result.lines.map((line: Line) => [line.name, line])),
  };
}

/** Expects that one line fails, and says what to do. */
async function fails(name: string, detail: RegExp, todo: RegExp, changes: Record<string, string>, ...words: string[]) {
  const { status, lines, stderr } = await run(changes, ...words);
  expect(lines[name]).toEqual({
    name,
    state: 'failed',
    detail: expect.stringMatching(detail),
    todo: expect.stringMatching(todo),
  });
  expect([status, stderr]).toEqual([1, expect.stringMatching(new RegExp(`line\\(s\\) failed: .*${name}`))]);
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return `http://127.0.0.1:${portOf(server)}`;
}

/** An address where nobody listens. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server)}`;
  server.close();
  await once(server, 'close');
  return url;
}

function portOf(server: { address: Server['address'] }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const ALL = [
  ...['settings', 'signing-key', 'certificate-oin', 'certificate-chain', 'certificate-key-size', 'certificate-usage'],
  ...['certificate-days', 'certificate-revocation', 'transport-certificate', 'token-issuer', 'fsc-certificates'],
  ...['fsc-group', 'fsc-peer', 'fsc-audience', 'clock', 'database', 'migrations', 'request-shv', 'request-vs'],
];

describe('when all is well', () => {
  it('every line is ok and the status is 0', async () => {
    const { status, stderr, lines } = await run({}, '--token-file', tokenFile);
    expect([status, stderr]).toEqual([0, '']);
    expect(Object.values(lines).map(({ name, state }) => `${name} ${state}`)).toEqual(ALL.map((name) => `${name} ok`));
    expect(lines['request-shv']?.detail).toMatch(
      /shv\/v1\/gegevens: answered in \d+ ms; digest, signature and model hold/,
    );
    expect(lines['certificate-key-size']?.detail).toContain('production needs 3072');
  });

  it('the request delivers nothing of anybody, and is in the journal', async () => {
    await run({}, '--token-file', tokenFile);
    const [entry] = await supplier.asOwner('select vraag, records from gegevens.journaal order by id desc limit 1');
    expect(entry).toMatchObject({ records: 0, vraag: expect.stringContaining('1900-01-01') });
  });

  it('people get a line each, and a data sheet of one page', async () => {
    const words = [
      'gegevens',
      'preflight',
      '--transport-certificate',
      transport,
      '--contact',
      'Beheer, beheer@leverancier.example',
    ];
    const env = { ...environment, GEGEVENS_SHV_SERVICE: 'DDAS-schuldhulpverlening-ophaal-Voorbeeld' };
    const { status, stdout } = await callProgram(words, env);
    shown.push(stdout);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ok {11}settings {16}complete/);
    expect(stdout).toContain('19 ok, 0 warning(s), 0 failed, 0 not checked');
    const sheet = stdout.slice(stdout.indexOf('Data sheet')).trimEnd().split('\n');
    expect(sheet.length).toBeLessThanOrEqual(50);
    expect(Math.max(...sheet.map((line) => line.length))).toBeLessThanOrEqual(100);
    const text = sheet.join('\n');
    for (const part of [
      /OIN {17}00000099000000002000/,
      /service {13}DDAS-schuldhulpverlening-ophaal-Voorbeeld\n {2}call {16}POST \/shv\/v1\/gegevens/,
      /service {13}DDAS-vroegsignalering-ophaal-TEST-01\n {22}agree on the name, and set it in GEGEVENS_VS_SERVICE/,
      /protocol {12}PROTOCOL_TCP_HTTP_1\.1/,
      /upstream {12}http:\/\/127\.0\.0\.1:8080 \(in the Inway; the host only: the path stays\)/,
      /contact {13}Beheer, beheer@leverancier\.example/,
      /certificate of the signature\n/,
      /certificate of the connection\n/,
    ])
      expect(text).toMatch(part);
    expect(text.match(/SHA-256 {11}[0-9a-f]{64}/g)).toHaveLength(2);
    expect(text.match(/x5t#S256 {10}[\w-]{43}/g)).toHaveLength(2);
  });
});

describe('the settings', () => {
  it('together are judged as a start would', async () => {
    await fails('settings', /OAUTH_AUDIENCE is missing/, /OAUTH_AUDIENCE: the audience/, { OAUTH_AUDIENCE: '' });
  });
});

describe('the own certificate', () => {
  it('must belong to the key', async () => {
    const { keyPem } = mint();
    await fails('signing-key', /none of the certificates belongs/, /issued for this key/, {
      GEGEVENS_SIGNING_KEY: write('ander.pem', keyPem),
    });
  });

  it('must be readable; the lines about it are then not checked', async () => {
    const changes = { GEGEVENS_SIGNING_CHAIN: join(dir, 'nergens.pem') };
    await fails('signing-key', /nergens\.pem/, /readable files/, changes);
    expect((await run(changes)).lines['certificate-oin']?.state).toBe('not-checked');
  });

  it('in PKCS#12 needs its passphrase, which is not shown', async () => {
    const { key, keyPem, chain } = mint();
    const p12 = write('sleutel.p12', toPkcs12({ key, keyPem, chainPem: chain }, SECRETS[2] ?? ''));
    const files = { GEGEVENS_SIGNING_KEY: '', GEGEVENS_SIGNING_CHAIN: '', GEGEVENS_SIGNING_P12: p12 };
    expect((await run({ ...files, GEGEVENS_SIGNING_P12_PASSPHRASE: SECRETS[2] ?? '' })).status).toBe(0);
    await fails('signing-key', /passphrase does not open/, /P12_PASSPHRASE/, {
      ...files,
      GEGEVENS_SIGNING_P12_PASSPHRASE: 'fout',
    });
  });

  it('must name an OIN', async () => {
    await fails('certificate-oin', /no OIN of 20 digits/, /PKIoverheid/, signedWith(mint({ oin: '1234' })));
  });

  it('must have its intermediates with it', async () => {
    const { keyPem, leaf } = mint();
    const changes = signedWith({ keyPem, chain: leaf.toString() });
    await fails('certificate-chain', /ends at a certificate of .*Services CA/, /missing intermediate/, changes);
  });

  it('must lead to the anchors', async () => {
    const stranger = await openStranger();
    await fails('certificate-chain', /ends at a certificate of .*Root CA/, /TRUST_ANCHORS/, {
      GEGEVENS_TRUST_ANCHORS: stranger,
    });
    await fails('certificate-chain', /onleesbaar|holds no certificate|niet vertrouwd/i, /TRUST_ANCHORS/, {
      GEGEVENS_TRUST_ANCHORS: write('leeg.pem', ''),
    });
  });

  it('needs a key of 3072 bits in production', async () => {
    const production = { NODE_ENV: 'production' };
    await fails('certificate-key-size', /2048 bits; at least 3072/, /RSA key of 3072 bits/, production);
    const { lines } = await run({ ...production, ...signedWith(mint({ bits: 3072 })) });
    expect(lines['certificate-key-size']).toMatchObject({ state: 'ok', detail: '3072 bits' });
  });

  it('must be meant for signing', async () => {
    const { authority } = supplier;
    const [basic, , ...rest] = leafExtensions({ ocspUrl: authority.ocspUrl, crlUrl: authority.crlUrl });
    if (basic === undefined) throw new Error('no extensions');
    const minted = mint({ extensions: [basic, keyUsage(['keyEncipherment']), ...rest] });
    await fails('certificate-usage', /neither `digitalSignature`/, /digitalSignature/, signedWith(minted));
  });

  it.each([
    [-1, 'failed', /expired on/],
    [12, 'warning', /1[12] days left/],
    [90, 'ok', /(89|90) days left/],
  ])('with %i days left: %s', async (days, state, detail) => {
    const { lines, status } = await run(signedWith(mint({ days })));
    expect(lines['certificate-days']).toMatchObject({ state, detail: expect.stringMatching(detail) });
    if (state !== 'ok') expect(lines['certificate-days']?.todo).toMatch(/request a new certificate/);
    expect(lines['certificate-chain']?.state).toBe('ok');
    expect(status).toBe(state === 'failed' ? 1 : 0);
  });

  it('must have a revocation status that can be asked for', async () => {
    supplier.authority.behaviour.ocsp = 'not-found';
    supplier.authority.behaviour.crl = 'garbage';
    await fails('certificate-revocation', /no revocation answer for .*127\.0\.0\.1.*status 404/, /OUTBOUND_PROXY/, {});
  });

  it('must not be revoked', async () => {
    const minted = mint();
    appendFileSync(supplier.authority.revoked, `${minted.leaf.serialNumber}\n`);
    try {
      await fails('certificate-revocation', /is revoked/, /new certificate with a new key/, signedWith(minted));
    } finally {
      writeFileSync(supplier.authority.revoked, '');
    }
  });
});

/** The root of an authority that nobody here knows. */
async function openStranger(): Promise<string> {
  const { createAuthority } = await import('../../src/demo/authority/authority.ts');
  const stranger = await createAuthority({ dir: mkdtempSync(join(dir, 'vreemd-')), port: 0 });
  await stranger.close();
  return stranger.root;
}

describe('the certificate of the connection', () => {
  const name = 'transport-certificate';

  it('is not that of the signatures', async () => {
    const own = ['--transport-certificate', supplier.authority.supplier.certificate];
    await fails(name, /is that of the connection/, /certificate of its own/, {}, ...own);
  });

  it('has another key', async () => {
    const minted = mint();
    const same = mint({ pair: minted.key, days: 90 });
    const file = write('zelfde.pem', same.chain);
    await fails(
      name,
      /has the key of that of the connection/,
      /key of its own/,
      signedWith(minted),
      '--transport-certificate',
      file,
    );
  });

  it('is asked of the Inway when it is not named', async () => {
    const minted = mint();
    const server = createTlsServer({ key: minted.keyPem, cert: minted.chain }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const env = { ...environment, FSC_AUDIENCE: `https://127.0.0.1:${portOf(server)}` };
    const lineOf = async (changes: Record<string, string>): Promise<Line> => {
      const { stdout } = await callProgram(['gegevens', 'preflight', '--json'], { ...env, ...changes });
      shown.push(stdout);
      return JSON.parse(stdout).lines.find((line: Line) => line.name === name);
    };
    try {
      expect(await lineOf({})).toMatchObject({ state: 'ok' });
      expect(await lineOf(signedWith(minted))).toMatchObject({
        state: 'failed',
        detail: expect.stringContaining('is that of the connection'),
      });
      expect(await lineOf({ FSC_AUDIENCE: 'https://127.0.0.1:9' })).toMatchObject({
        state: 'not-checked',
        todo: expect.stringContaining('--transport-certificate'),
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('must be one', async () => {
    await fails(name, /holds no certificate/, /PEM file/, {}, '--transport-certificate', write('niets.pem', 'niets'));
  });
});

describe('the tokens', () => {
  it('have an issuer', async () => {
    const none = { OAUTH_ISSUER: '', OAUTH_JWKS_URL: '', OAUTH_AUDIENCE: '', FSC_TOKEN_CERTIFICATES: '' };
    await fails('token-issuer', /no issuer/, /FSC_TOKEN_CERTIFICATES/, none);
  });

  it.each<[string, RequestListener | undefined, RegExp]>([
    ['that cannot be reached', undefined, /cannot be fetched: .*ECONNREFUSED/],
    [
      'that is another one',
      (_request, response) => response.end('{"issuer":"https://elders.example"}'),
      /another issuer/,
    ],
    ['that publishes no keys', (_request, response) => void response.writeHead(404).end(), /answered 404/],
  ])('of an issuer %s are refused', async (_what, listener, detail) => {
    const issuer = listener === undefined ? await closedPort() : await listen(listener);
    await fails('token-issuer', detail, /correct OAUTH_ISSUER/, { OAUTH_ISSUER: issuer, OAUTH_JWKS_URL: '' });
  });

  it('have an audience', async () => {
    await fails('token-issuer', /OAUTH_AUDIENCE is not set/, /set it to the audience/, { OAUTH_AUDIENCE: '' });
  });

  it.each<[string, () => string | Promise<string>, RegExp]>([
    ['missing', () => join(dir, 'nergens.pem'), /nergens\.pem/],
    ['no certificates', () => write('geen.pem', 'geen'), /no PEM certificate/],
    [
      'expired',
      () =>
        write(
          'verlopen.pem',
          `${mint({ days: -1 }).chain.split('-----END CERTIFICATE-----')[0]}-----END CERTIFICATE-----\n`,
        ),
      /the last certificate expired/,
    ],
    ['at an address that gives none', closedPort, /cannot be used: .*ECONNREFUSED/],
  ])('of FSC need certificates: %s', async (_what, source, detail) => {
    await fails('fsc-certificates', detail, /Manager/, { FSC_TOKEN_CERTIFICATES: await source() });
  });

  it.each([
    ['fsc-group', { FSC_GROUP_ID: '' }, /not set/, /FSC_GROUP_ID/],
    ['fsc-group', { FSC_GROUP_ID: 'met spatie' }, /not the identifier/, /FSC_GROUP_ID/],
    ['fsc-peer', { FSC_PEER_ID: '' }, /not set/, /OIN/],
    ['fsc-peer', { FSC_PEER_ID: 'leverancier' }, /not an OIN/, /OIN/],
    ['fsc-audience', { FSC_AUDIENCE: '' }, /not set/, /https:\/\/host:port/],
    ['fsc-audience', { FSC_AUDIENCE: 'inway.example:443' }, /1 of 1 is no address/, /https:\/\/host:port/],
  ])('of FSC name what the settings say: %s, %j', async (name, changes, detail, todo) => {
    await fails(name, detail, todo, changes);
  });

  it('of FSC may be of another party than the one that signs: a warning', async () => {
    const { lines, status } = await run({ FSC_PEER_ID: '00000099000000009999' });
    expect(lines['fsc-peer']).toMatchObject({ state: 'warning', todo: expect.stringContaining('FSC_PEER_ID') });
    expect(status).toBe(0);
  });
});

describe('the clock', () => {
  const issuerAt = (offsetMs: number): Promise<string> =>
    listen((_request, response) => {
      response.writeHead(200, { date: new Date(Date.now() + offsetMs).toUTCString() }).end('{"keys":[]}');
    });

  it.each([
    [-300_000, /^this machine is (29|30)\d s ahead of http:\/\/127/],
    [300_000, /^this machine is (29|30)\d s behind http:\/\/127/],
  ])('is compared with the `Date` of the issuer: %i ms off', async (offset, detail) => {
    await fails('clock', detail, /NTP/, { OAUTH_JWKS_URL: await issuerAt(offset) });
  });

  it('may be a few seconds off, and is compared with the responders too', async () => {
    const { lines } = await run({ OAUTH_JWKS_URL: await issuerAt(-8000) });
    expect(lines.clock).toMatchObject({ state: 'ok', detail: expect.stringContaining('/ocsp') });
  });
});

describe('the database', () => {
  it('must be reached; its password is not shown', async () => {
    const url = `postgres://dienst:${SECRETS[0]}@127.0.0.1:9/koppelvlak`;
    await fails('database', /DATABASE_URL|ECONNREFUSED/, /DATABASE_URL/, { DATABASE_URL: url });
  });

  it('must be named', async () => {
    await fails('database', /not set/, /set DATABASE_URL/, { DATABASE_URL: '', KOPPELVLAK_HOME: join(dir, 'leeg') });
  });

  it('must have its migrations', async () => {
    const empty = await createDatabase();
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: empty.url });
    await client.connect();
    await client.query('delete from koppelvlak.migraties where id = (select max(id) from koppelvlak.migraties)');
    await client.end();
    try {
      await fails('migrations', /the database lacks/, /koppelvlak migrate/, { DATABASE_URL: empty.url });
    } finally {
      await empty.drop();
    }
  });
});

describe('a request to the own service', () => {
  const name = 'request-shv';
  const token = (): string[] => ['--token-file', tokenFile];

  it('without a token shows that it is reached', async () => {
    const { lines, status } = await run();
    expect(lines[name]).toMatchObject({ state: 'ok', detail: expect.stringContaining('asks for a token') });
    expect(status).toBe(0);
  });

  it('that cannot be made from here fails nothing', async () => {
    const { lines, status } = await run({ PUBLIC_BASE_URL: 'http://127.0.0.1:9' });
    expect(lines[name]).toMatchObject({ state: 'not-checked', todo: expect.stringContaining('Inway') });
    expect(status).toBe(0);
  });

  it('needs an address in production', async () => {
    await fails(name, /PUBLIC_BASE_URL is not set/, /address that clients see/, {
      PUBLIC_BASE_URL: '',
      NODE_ENV: 'production',
    });
  });

  it('with a token that is refused says where the reason is', async () => {
    const file = write('verlopen.txt', await supplier.tokens.token(['read'], { seconds: -60 }));
    await fails(name, /status 401: ERROR_CODE_ACCESS_TOKEN_EXPIRED/, /tokenRefusal/, {}, '--token-file', file);
  });

  it('of another path than the service has', async () => {
    await fails(name, /status 404/, /path pass unchanged/, { GEGEVENS_SHV_PREFIX: '/elders/v1' }, ...token());
  });

  it('of a party that may not ask is right to be refused', async () => {
    const server = await supplier.another({ GEGEVENS_ALLOWED_SIGNERS: '00000099000000001000' });
    const changes = { PUBLIC_BASE_URL: server.url, GEGEVENS_ALLOWED_SIGNERS: '00000099000000001000' };
    const { lines } = await run(changes, ...token());
    expect(lines[name]).toMatchObject({ state: 'ok', detail: expect.stringContaining('GEGEVENS_ALLOWED_SIGNERS') });
  });

  it('of another party than that of the token', async () => {
    const server = await supplier.another({ OAUTH_CLIENT_OINS: 'test=00000099000000001000' });
    await fails(
      name,
      /status 403/,
      /OIN 00000099000000002000.*OAUTH_CLIENT_OINS/,
      { PUBLIC_BASE_URL: server.url },
      ...token(),
    );
  });

  it('whose answer is changed on its way', async () => {
    const url = await listen(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const { connection: _c, host: _h, 'content-length': _l, ...headers } = incoming.headers;
      const answer = await send(`${supplier.server.url}${incoming.url}`, 'POST', headers, Buffer.concat(chunks));
      const { 'content-length': _length, ...passed } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, passed).end(JSON.stringify(JSON.parse(answer.text), undefined, 2));
    });
    await fails(name, /digest-mismatch/, /as it is: no compression/, { PUBLIC_BASE_URL: url }, ...token());
  });

  it('that is redirected', async () => {
    const url = await listen((_request, response) => void response.writeHead(308, { location: '/' }).end());
    await fails(name, /status 308/, /address itself/, { PUBLIC_BASE_URL: url }, ...token());
  });
});

describe('whoever does not answer', () => {
  it('is waited for no longer than --timeout', async () => {
    supplier.authority.behaviour.ocsp = 'hang';
    supplier.authority.behaviour.crl = 'hang';
    const silent = await listen(() => undefined);
    const started = performance.now();
    const { lines } = await run(
      {
        ...{ OAUTH_ISSUER: silent, OAUTH_JWKS_URL: '', FSC_TOKEN_CERTIFICATES: `${silent}/jwks.json` },
        ...{
          PUBLIC_BASE_URL: silent,
          DATABASE_URL: silent.replace('http:', `postgres://x:${SECRETS[0]}@`).replace('@//', '@'),
        },
        OUTBOUND_NO_PROXY: '127.0.0.1',
        OUTBOUND_PROXY: `http://gebruiker:${SECRETS[1]}@127.0.0.1:9`,
      },
      ...['--timeout', '1', ...['--token-file', tokenFile]],
    );
    expect(performance.now() - started).toBeLessThan(15_000);
    const states = ['certificate-revocation', 'token-issuer', 'fsc-certificates', 'clock', 'database', 'request-shv'];
    expect(states.map((name) => `${name} ${lines[name]?.state}`)).toEqual([
      ...['certificate-revocation failed', 'token-issuer failed', 'fsc-certificates failed', 'clock not-checked'],
      ...['database failed', 'request-shv not-checked'],
    ]);
  });
});
