import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorizationServer, startAuthorizationServer } from '../../src/demo/authorization-server.ts';
import { createLogger } from '../../src/lib/log.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ask, post } from './support/ask.ts';
import { CLOSED, createProbe, type Probe } from './support/probe-area.ts';

const AUDIENCE = 'https://koppelvlak.example';
let server: TestServer;
let issuer: AuthorizationServer;
let keysDirectory: string;
let token: string;
let probe: Probe;

beforeAll(async () => {
  keysDirectory = await mkdtemp(join(tmpdir(), 'koppelvlak-keys-'));
  issuer = await startAuthorizationServer({
    environment: 'test',
    port: 0,
    audience: AUDIENCE,
    clients: [
      { id: 'app', secret: 'a-secret-of-32-characters-or-more', scopes: ['create:normal'] },
      { id: 'none', secret: 'b-secret-of-32-characters-or-more', scopes: [] },
    ],
    keysDirectory,
    log: createLogger('silent'),
  });
  probe = createProbe({ issuer: issuer.issuer, audience: AUDIENCE, rateLimit: 1000 });
  server = await startServer({ env: { LOG_LEVEL: 'trace' }, register: probe.open });
  token = await tokenOf('app', 'a-secret-of-32-characters-or-more');
});
afterAll(async () => {
  await server.stop();
  await issuer.close();
  await rm(keysDirectory, { recursive: true });
});

async function tokenOf(id: string, secret: string): Promise<string> {
  const reply = await ask(issuer.tokenUrl, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  return String(reply.body.access_token);
}

function call(path: string, bearer: string | undefined, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`);
  return ask(server.url + CLOSED + path, { ...init, headers });
}

describe('a closed mount', () => {
  it('admits a token with the scope, and logs the caller', async () => {
    const reply = await call('/databank', token);
    expect(reply.status).toBe(200);
    expect(server.logged).toContainEqual(
      expect.objectContaining({ msg: 'answered', caller: 'app', tokenKind: 'oauth', route: `${CLOSED}/databank` }),
    );
  });

  it('logs a request that the client aborts', async () => {
    const leaving = new AbortController();
    const asked = call('/traag', token, { signal: leaving.signal });
    await probe.arrived;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await expect
      .poll(() => server.logged)
      .toContainEqual(expect.objectContaining({ msg: 'broken off', caller: 'app', route: `${CLOSED}/traag` }));
    probe.release();
  });

  it('answers 401 without a token and with an invalid one, and says how to authenticate', async () => {
    const without = await call('/databank', undefined);
    expect(without.status).toBe(401);
    expect(without.headers.get('www-authenticate')).toBe('Bearer');
    const invented = await call('/databank', 'verzonnen');
    expect(invented.status).toBe(401);
    expect(invented.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
  });

  it('answers 403 without the scope, and names it', async () => {
    const reply = await call('/databank', await tokenOf('none', 'b-secret-of-32-characters-or-more'));
    expect(reply.status).toBe(403);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="create:normal"');
  });

  it('checks the token before it reads the body', async () => {
    const reply = await call('/dingen', undefined, post('dit is geen JSON', 'text/plain'));
    expect(reply.status).toBe(401);
  });
});

describe('the log', () => {
  it('contains no token, no query and no identifier from an address, whatever the answer was', async () => {
    const secret = 'person-123456782';
    await call(`/dingen/${secret}?soort=klein`, token);
    await call(`/dingen/${secret}?objectId=${secret}`, token);
    await call(`/dingen/%zz?objectId=${secret}`, token);
    await call(`/nergens/${secret}?objectId=${secret}`, token);
    await call(`/dingen?objectId=${secret}`, token, { method: 'PUT' });
    await call('/dingen', token, post(`{"naam":"${secret}","meer":"${secret}"}`));
    await call('/dingen', token, post(`{"naam":"${secret}`));
    await call(`/fout?x=${secret}`, token);
    await call('/databank', `${token}x${secret}`);
    const lines = JSON.stringify(server.logged);
    expect(server.logged.filter(({ msg }) => msg === 'answered').length).toBeGreaterThan(5);
    expect(lines).not.toContain(secret);
    expect(lines).not.toContain(token);
    for (const part of token.split('.')) expect(lines).not.toContain(part);
    expect(lines).not.toContain('objectId');
  });
});
