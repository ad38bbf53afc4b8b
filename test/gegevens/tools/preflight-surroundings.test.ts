/** `gegevens preflight`: each line about tokens, clock, database and our own service fails for its own reason, and no wait is long. */

import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../../support/database.ts';
import { openPreflightKit, type PreflightKit } from '../support/preflight.ts';
import { send } from '../support/requester.ts';

let kit: PreflightKit;
beforeAll(async () => {
  kit = await openPreflightKit();
});
afterEach(() => kit.reset());
afterAll(() => kit.close());

describe('the tokens', () => {
  it('have an issuer', async () => {
    const none = { OAUTH_ISSUER: '', OAUTH_JWKS_URL: '', OAUTH_AUDIENCE: '', FSC_TOKEN_CERTIFICATES: '' };
    await kit.fails('token-issuer', /no issuer/, /FSC_TOKEN_CERTIFICATES/, none);
  });

  it.each<[string, RequestListener | undefined, RegExp]>([
    ['that is unreachable', undefined, /cannot be fetched: .*ECONNREFUSED/],
    [
      'with another name',
      (_request, response) =>
        response.setHeader('content-type', 'application/json').end('{"issuer":"https://elders.example"}'),
      /another issuer/,
    ],
    ['that publishes no keys', (_request, response) => void response.writeHead(404).end(), /status 404/],
  ])('of an issuer %s are refused', async (_what, listener, detail) => {
    const issuer = listener === undefined ? await kit.closedPort() : await kit.listen(listener);
    await kit.fails('token-issuer', detail, /correct OAUTH_ISSUER/, { OAUTH_ISSUER: issuer, OAUTH_JWKS_URL: '' });
  });

  it('have an audience', async () => {
    await kit.fails('token-issuer', /OAUTH_AUDIENCE is not set/, /set it to the audience/, { OAUTH_AUDIENCE: '' });
  });

  it.each<[string, () => string | Promise<string>, RegExp]>([
    ['missing', () => join(kit.dir, 'nergens.pem'), /nergens\.pem/],
    ['no certificates', () => kit.write('geen.pem', 'geen'), /no PEM certificate/],
    [
      'expired',
      () =>
        kit.write(
          'verlopen.pem',
          `${kit.mint({ days: -1 }).chain.split('-----END CERTIFICATE-----')[0]}-----END CERTIFICATE-----\n`,
        ),
      /the last certificate expired/,
    ],
    ['at an address without tokens', () => kit.closedPort(), /cannot be used: .*ECONNREFUSED/],
  ])('of FSC need certificates: %s', async (_what, source, detail) => {
    await kit.fails('fsc-certificates', detail, /Manager/, { FSC_TOKEN_CERTIFICATES: await source() });
  });

  it.each([
    ['fsc-group', { FSC_GROUP_ID: '' }, /not set/, /FSC_GROUP_ID/],
    ['fsc-group', { FSC_GROUP_ID: 'met spatie' }, /not the identifier/, /FSC_GROUP_ID/],
    ['fsc-peer', { FSC_PEER_ID: '' }, /not set/, /OIN/],
    ['fsc-peer', { FSC_PEER_ID: 'leverancier' }, /not an OIN/, /OIN/],
    ['fsc-audience', { FSC_AUDIENCE: '' }, /not set/, /https:\/\/host:port/],
    ['fsc-audience', { FSC_AUDIENCE: 'inway.example:443' }, /1 of 1 is not an address/, /https:\/\/host:port/],
  ])('of FSC match the settings: %s, %j', async (name, changes, detail, todo) => {
    await kit.fails(name, detail, todo, changes);
  });

  it("of FSC for a party other than the signing certificate's cause a warning", async () => {
    const { lines, status } = await kit.run({ FSC_PEER_ID: '00000099000000009999' });
    expect(lines['fsc-peer']).toMatchObject({ state: 'warning', todo: expect.stringContaining('FSC_PEER_ID') });
    expect(status).toBe(0);
  });
});

describe('the clock', () => {
  const issuerAt = (offsetMs: number): Promise<string> =>
    kit.listen((_request, response) => {
      response.writeHead(200, { date: new Date(Date.now() + offsetMs).toUTCString() }).end('{"keys":[]}');
    });

  it.each([
    [-300_000, /^this machine is (29|30)\d s ahead of http:\/\/127/],
    [300_000, /^this machine is (29|30)\d s behind http:\/\/127/],
  ])("is compared with the issuer's `Date`: %i ms off", async (offset, detail) => {
    await kit.fails('clock', detail, /NTP/, { OAUTH_JWKS_URL: await issuerAt(offset) });
  });

  it('may be a few seconds off, and is compared with the responders too', async () => {
    const { lines } = await kit.run({ OAUTH_JWKS_URL: await issuerAt(-8000) });
    expect(lines.clock).toMatchObject({ state: 'ok', detail: expect.stringContaining('/ocsp') });
  });
});

describe('the database', () => {
  it('must be reachable; its password is not shown', async () => {
    const url = `postgres://dienst:${kit.secrets.database}@127.0.0.1:9/koppelvlak`;
    await kit.fails('database', /DATABASE_URL|ECONNREFUSED/, /DATABASE_URL/, { DATABASE_URL: url });
  });

  it('may have a password that another one begins with, with a bare %, or for a socket: no part of it is shown', async () => {
    const { lines } = await kit.run({
      FSC_GROUP_ID: 'hoofdgeheim-en-nog-iets',
      OUTBOUND_PROXY: 'http://gebruiker:hoofdgeheim@127.0.0.1:9',
      OUTBOUND_NO_PROXY: '127.0.0.1',
      DATABASE_URL: 'postgres://dienst:hoofdgeheim-en-nog-iets@127.0.0.1:9/koppelvlak',
    });
    expect(lines['fsc-group']).toMatchObject({ detail: '(secret)' });
    const { lines: others } = await kit.run({
      FSC_GROUP_ID: 'hoofdgeheim-en-nog-iets',
      OUTBOUND_PROXY: 'http://gebruiker:hoofdgeheim-en-nog-iets@127.0.0.1:9',
      OUTBOUND_NO_PROXY: '127.0.0.1',
      DATABASE_URL: 'postgres://dienst:hoofdgeheim@127.0.0.1:9/koppelvlak',
    });
    expect(others['fsc-group']).toMatchObject({ detail: '(secret)' });
    const socket = 'postgres://dienst:socketgeheim@/koppelvlak?host=/run/nergens';
    const atSocket = await kit.run({ FSC_GROUP_ID: 'socketgeheim', DATABASE_URL: socket });
    expect(atSocket.lines['fsc-group']).toMatchObject({ detail: '(secret)' });
    const bare = 'postgres://dienst:50%korting@127.0.0.1:9/koppelvlak';
    expect((await kit.run({ DATABASE_URL: bare })).lines.database).toMatchObject({ state: 'failed' });
  });

  it('must be configured', async () => {
    await kit.fails('database', /not set/, /set DATABASE_URL/, {
      DATABASE_URL: '',
      KOPPELVLAK_HOME: join(kit.dir, 'leeg'),
    });
  });

  it('must have its migrations', async () => {
    const empty = await createDatabase();
    const client = new pg.Client({ connectionString: empty.url });
    await client.connect();
    await client.query('delete from koppelvlak.migrations where id = (select max(id) from koppelvlak.migrations)');
    await client.end();
    try {
      await kit.fails('migrations', /the database lacks/, /koppelvlak migrate/, { DATABASE_URL: empty.url });
    } finally {
      await empty.drop();
    }
  });
});

describe('a request to our own service', () => {
  const name = 'request-shv';
  const token = (): string[] => ['--token-file', kit.tokenFile];

  it('without a token shows that it is reachable', async () => {
    const { lines, status } = await kit.run();
    expect(lines[name]).toMatchObject({ state: 'ok', detail: expect.stringContaining('asks for a token') });
    expect(status).toBe(0);
  });

  it('that is not possible from here fails nothing', async () => {
    const { lines, status } = await kit.run({ PUBLIC_BASE_URL: 'http://127.0.0.1:9' });
    expect(lines[name]).toMatchObject({ state: 'not-checked', todo: expect.stringContaining('Inway') });
    expect(status).toBe(0);
  });

  it('needs an address in production', async () => {
    await kit.fails(name, /PUBLIC_BASE_URL is not set/, /address that clients see/, {
      PUBLIC_BASE_URL: '',
      NODE_ENV: 'production',
    });
  });

  it('with a refused token says where to find the reason', async () => {
    const file = kit.write('verlopen.txt', await kit.supplier.tokens.token(['read'], { seconds: -60 }));
    await kit.fails(name, /status 401: ERROR_CODE_ACCESS_TOKEN_EXPIRED/, /tokenRefusal/, {}, '--token-file', file);
  });

  it('with a path that the service does not have', async () => {
    await kit.fails(name, /status 404/, /path pass unchanged/, { 'gegevens.shvPrefix': '/elders/v1' }, ...token());
  });

  it('by a party without access is rightly refused', async () => {
    const server = await kit.supplier.another({ GEGEVENS_ALLOWED_SIGNERS: '00000099000000001000' });
    const changes = { PUBLIC_BASE_URL: server.url, GEGEVENS_ALLOWED_SIGNERS: '00000099000000001000' };
    const { lines } = await kit.run(changes, ...token());
    expect(lines[name]).toMatchObject({ state: 'ok', detail: expect.stringContaining('GEGEVENS_ALLOWED_SIGNERS') });
  });

  it("by a party other than the token's", async () => {
    const server = await kit.supplier.another({ OAUTH_CLIENT_OINS: 'test=00000099000000001000' });
    await kit.fails(
      name,
      /status 403/,
      /OIN 00000099000000002000.*OAUTH_CLIENT_OINS/,
      { PUBLIC_BASE_URL: server.url },
      ...token(),
    );
  });

  it('whose answer is modified in transit', async () => {
    const url = await kit.listen(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const { connection: _c, host: _h, 'content-length': _l, ...headers } = incoming.headers;
      const answer = await send(`${kit.supplier.server.url}${incoming.url}`, 'POST', headers, Buffer.concat(chunks));
      const { 'content-length': _length, ...passed } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, passed).end(JSON.stringify(JSON.parse(answer.text), undefined, 2));
    });
    await kit.fails(name, /digest-mismatch/, /unchanged: no compression/, { PUBLIC_BASE_URL: url }, ...token());
  });

  it('that is redirected', async () => {
    const url = await kit.listen((_request, response) => void response.writeHead(308, { location: '/' }).end());
    await kit.fails(name, /status 308/, /address itself/, { PUBLIC_BASE_URL: url }, ...token());
  });
});

describe('an unresponsive host', () => {
  it('is waited for no longer than --timeout', async () => {
    kit.supplier.authority.behaviour.ocsp = 'hang';
    kit.supplier.authority.behaviour.crl = 'hang';
    const silent = await kit.listen(() => undefined);
    const started = performance.now();
    const { lines } = await kit.run(
      {
        OAUTH_ISSUER: silent,
        OAUTH_JWKS_URL: '',
        FSC_TOKEN_CERTIFICATES: `${silent}/jwks.json`,
        ...{
          PUBLIC_BASE_URL: silent,
          DATABASE_URL: silent.replace('http:', `postgres://x:${kit.secrets.database}@`).replace('@//', '@'),
        },
        OUTBOUND_NO_PROXY: '127.0.0.1',
        OUTBOUND_PROXY: `http://gebruiker:${kit.secrets.proxy}@127.0.0.1:9`,
      },
      ...['--timeout', '1', ...['--token-file', kit.tokenFile]],
    );
    expect(performance.now() - started).toBeLessThan(15_000);
    const states = ['certificate-revocation', 'token-issuer', 'fsc-certificates', 'clock', 'database', 'request-shv'];
    expect(states.map((name) => `${name} ${lines[name]?.state}`)).toEqual([
      ...['certificate-revocation failed', 'token-issuer failed', 'fsc-certificates failed', 'clock not-checked'],
      ...['database failed', 'request-shv not-checked'],
    ]);
  });
});
