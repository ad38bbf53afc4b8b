import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AuthorizationServerOptions, startAuthorizationServer } from '../../../src/demo/authorization-server.ts';
import { type AuthorizationClient, loadDemoClients } from '../../../src/demo/saved-secrets.ts';
import { bearer, openVerifier, refusal } from './support/verifier.ts';

const audience = 'https://koppelvlak.example';
const logged: string[] = [];
const record = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
const log = { info: record, error: record };
const keyPair = await generateKeyPair('PS256');
const withKey: AuthorizationClient = {
  id: 'sleutel',
  scopes: ['read'],
  publicKeys: [{ ...(await exportJWK(keyPair.publicKey)), kid: 'k', alg: 'PS256' }],
};

let keysDirectory = '';
const running: { close(): Promise<void> }[] = [];
const printed: unknown[] = [];

beforeAll(async () => {
  keysDirectory = await mkdtemp(join(tmpdir(), 'koppelvlak-auth-'));
  for (const name of ['info', 'warn', 'error', 'log'] as const) {
    vi.spyOn(console, name).mockImplementation((...parts) => void printed.push(parts));
  }
});
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await rm(keysDirectory, { recursive: true });
});

async function start(change: Partial<AuthorizationServerOptions> = {}) {
  const clients = await loadDemoClients(keysDirectory);
  const options = { port: 0, audience, clients: [...clients, withKey], keysDirectory, environment: 'test', log };
  const server = await startAuthorizationServer({ ...options, ...change });
  running.push(server);
  const secretOf = (id: string) => clients.find((client) => client.id === id)?.secret ?? '';
  const ask = async (id: string, parameters: Record<string, string> = {}, secret = secretOf(id)) => {
    const response = await fetch(server.tokenUrl, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...parameters }),
    });
    return await answerOf(response);
  };
  return { ...server, ask, secretOf };
}

async function answerOf(response: Response) {
  const body: unknown = await response.json();
  const text = (name: string) => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return {
    status: response.status,
    token: text('access_token') ?? '',
    scope: text('scope'),
    type: text('token_type'),
    error: text('error'),
  };
}

const confidential = 'create:confidential read:confidential update:confidential delete:confidential';
const areaB =
  'create:normal create:confidential read:restricted read:normal read:confidential update:normal update:confidential delete:normal delete:confidential register:write';

describe('the authorization server', () => {
  it.each([
    ['statistiek', 'read'],
    ['applicatie', 'create:normal read:normal update:normal delete:normal'],
    ['onderzoek', confidential],
    ['privacy-officer', areaB],
    ['inzage', 'read:restricted'],
    ['niemand', undefined],
  ])('gives %s all its scopes when it requests none in particular', async (id, scope) => {
    const server = await start();
    const answer = await server.ask(id);
    expect(answer).toMatchObject({ status: 200, type: 'Bearer', scope });
    using verifier = openVerifier({ oauth: { issuer: server.issuer, audience } });
    const caller = await verifier.verify(bearer(answer.token));
    expect(caller).toMatchObject({ kind: 'oauth', subject: id, clientId: id });
    expect([...caller.scopes].join(' ')).toBe(scope ?? '');
  });

  it('gives only the requested scopes', async () => {
    const server = await start();
    expect((await server.ask('privacy-officer', { scope: 'read:restricted register:write' })).scope).toBe(
      'read:restricted register:write',
    );
  });

  it.each([
    ['applicatie', 'read:confidential'],
    ['applicatie', 'read:normal read'],
    ['niemand', 'read'],
    ['statistiek', 'unheard-of'],
  ])('refuses %s the scope %s', async (id, scope) => {
    const server = await start();
    expect(await server.ask(id, { scope })).toMatchObject({ status: 400, error: 'invalid_scope', token: '' });
  });

  it('makes the tokens of RFC 9068', async () => {
    const server = await start();
    const { token } = await server.ask('statistiek');
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({
      iss: server.issuer,
      aud: audience,
      sub: 'statistiek',
      client_id: 'statistiek',
      scope: 'read',
    });
    expect(claims.jti).toEqual(expect.any(String));
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(3600);
  });

  it('refuses a wrong secret, an unknown client and another grant', async () => {
    const server = await start();
    expect(await server.ask('statistiek', {}, 'wrong')).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(await server.ask('vreemd', {}, 'wrong')).toMatchObject({ status: 401, error: 'invalid_client' });
    expect(await server.ask('statistiek', { grant_type: 'password' })).toMatchObject({
      status: 400,
      error: 'unsupported_grant_type',
    });
  });

  describe('with a client that authenticates with a key (private_key_jwt)', () => {
    async function askWith(tokenUrl: string, change: (jwt: SignJWT) => SignJWT = (jwt) => jwt) {
      const now = Math.floor(Date.now() / 1000);
      const jwt = new SignJWT({ iss: 'sleutel', sub: 'sleutel', aud: tokenUrl, jti: crypto.randomUUID(), iat: now });
      jwt.setProtectedHeader({ alg: 'PS256', kid: 'k' }).setExpirationTime(now + 60);
      const assertion = await change(jwt).sign(keyPair.privateKey);
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
      });
      const ask = async () => await answerOf(await fetch(tokenUrl, { method: 'POST', body }));
      return { first: await ask(), again: await ask() };
    }

    it('gives a token, once for each assertion', async () => {
      const { tokenUrl } = await start();
      const { first, again } = await askWith(tokenUrl);
      expect(first).toMatchObject({ status: 200, scope: 'read' });
      expect(again).toMatchObject({ status: 401, error: 'invalid_client', token: '' });
    });

    it.each<[string, (jwt: SignJWT) => SignJWT]>([
      ['for another audience', (jwt) => jwt.setAudience('https://other.example')],
      ['of another issuer', (jwt) => jwt.setIssuer('statistiek')],
      ['for a client with a secret', (jwt) => jwt.setIssuer('statistiek').setSubject('statistiek')],
      ['for an unknown client', (jwt) => jwt.setIssuer('vreemd').setSubject('vreemd')],
      ['that has expired', (jwt) => jwt.setExpirationTime('-1m')],
      ['that is too old', (jwt) => jwt.setIssuedAt('-1h')],
    ])('refuses an assertion %s', async (_name, change) => {
      const { tokenUrl } = await start();
      expect((await askWith(tokenUrl, change)).first).toMatchObject({ status: 401, error: 'invalid_client' });
    });

    it('refuses an assertion that is not a signed token', async () => {
      const { tokenUrl } = await start();
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      for (const assertion of ['', 'x', 'a.b.c']) {
        const body = new URLSearchParams({ client_assertion_type: type, client_assertion: assertion });
        const answer = await answerOf(await fetch(tokenUrl, { method: 'POST', body }));
        expect(answer).toMatchObject({ status: 401, error: 'invalid_client' });
      }
    });
  });

  it('does not start in production', async () => {
    await expect(start({ environment: 'production' })).rejects.toThrow('does not start with NODE_ENV=production');
  });

  it('has no endpoint other than its tokens, its keys and its metadata', async () => {
    const server = await start();
    for (const path of ['/auth', '/me', '/session/end', '/token/', '/reg', '/interaction/x', '/request']) {
      expect((await fetch(`${server.issuer}${path}`)).status, path).toBe(404);
    }
    const keys = await (await fetch(server.jwksUrl)).text();
    expect(keys).toContain('"kid"');
    expect(keys).not.toContain('"d"');
  });

  it('keeps its key, so that tokens survive a restart', async () => {
    const first = await start();
    const { token } = await first.ask('statistiek');
    await first.close();
    const again = await start({ port: Number(new URL(first.issuer).port) });
    using verifier = openVerifier({ oauth: { issuer: first.issuer, audience, jwksUrl: again.jwksUrl } });
    expect((await verifier.verify(bearer(token))).subject).toBe('statistiek');
  });

  it('makes another key in another directory, whose tokens are not accepted', async () => {
    const other = await mkdtemp(join(tmpdir(), 'koppelvlak-auth-'));
    const stranger = await start({ keysDirectory: other });
    const { token } = await stranger.ask('statistiek');
    await stranger.close();
    const server = await start({ port: Number(new URL(stranger.issuer).port) });
    using verifier = openVerifier({ oauth: { issuer: server.issuer, audience, jwksUrl: server.jwksUrl } });
    expect(await refusal(verifier.verify(bearer(token)), token)).toBe('invalid unknown-key');
    await rm(other, { recursive: true });
  });

  it('logs the client, and prints nothing', async () => {
    logged.length = 0;
    const server = await start();
    const { token } = await server.ask('statistiek');
    await server.ask('statistiek', {}, 'wrong-secret');
    expect(logged).toEqual([
      'access token issued {"clientId":"statistiek"}',
      expect.stringContaining('access token refused'),
    ]);
    expect(logged.join()).not.toContain(token.slice(-20));
    expect(logged.join()).not.toContain('wrong-secret');
    expect(printed).toEqual([]);
  });
});

describe('the secrets of the demo', () => {
  it('are random, kept, and readable by their owner only', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'koppelvlak-auth-'));
    const made = await loadDemoClients(directory);
    expect(new Set(made.map((client) => client.secret)).size).toBe(6);
    expect(made.every((client) => client.secret.length >= 43)).toBe(true);
    expect(await loadDemoClients(directory)).toEqual(made);
    for (const file of await readdir(directory)) expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
    const other = await mkdtemp(join(tmpdir(), 'koppelvlak-auth-'));
    expect((await loadDemoClients(other))[0]?.secret).not.toBe(made[0]?.secret);
    await Promise.all([directory, other].map((path) => rm(path, { recursive: true })));
  });

  it('are made for a client that has none yet, and refused when the file is damaged', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'koppelvlak-auth-'));
    const path = join(directory, 'client-statistiek.json');
    const secret = 's'.repeat(43);
    await writeFile(path, JSON.stringify(secret));
    expect((await loadDemoClients(directory)).find((client) => client.id === 'statistiek')?.secret).toBe(secret);
    expect(await readdir(directory)).toContain('client-niemand.json');
    await writeFile(path, '{');
    await expect(loadDemoClients(directory)).rejects.toThrow('is damaged');
    await rm(directory, { recursive: true });
  });
});
