import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../../src/settings/read-config.ts';
import { actie, KEY, newPerson, startLog } from '../support.ts';
import { startReceiver } from './receiver.ts';

const PATIENT = { timeout: 60_000, interval: 30 };

it('a token comes from the token endpoint, once, and again after a 401; without one nothing is lost', async () => {
  const other = await startReceiver();
  let issued = 0;
  let refuses = true;
  const asked: unknown[] = [];
  const issuer = createServer(async (request, response) => {
    asked.push([request.headers.authorization, request.headers.traceparent, await text(request)]);
    if (refuses) return response.writeHead(503).end();
    issued += 1;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ access_token: `token-${issued}`, expires_in: 3600 }));
  }).listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  const address = issuer.address();
  const with_ = await startLog({
    env: {
      LDV_FORWARD_URL: other.url,
      'ldvOut.forwardBackoffMaxSeconds': '1',
      LDV_FORWARD_TOKEN_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/token`,
      LDV_FORWARD_CLIENT_ID: 'logboek',
      LDV_FORWARD_CLIENT_SECRET: 'geheim',
    },
  });
  try {
    const add = async (actieNaam: string) => {
      const body = actie(newPerson(), { actieNaam });
      expect((await with_.call(['create:normal'], 'POST', '/verwerkingsacties', body)).status).toBe(201);
    };
    await add('eerst');
    await expect.poll(() => asked.length, PATIENT).toBeGreaterThan(0);
    refuses = false;
    await expect.poll(() => other.taken.map(({ name }) => name), PATIENT).toEqual(['eerst']);
    await add('tweede');
    await expect.poll(() => other.taken.map(({ name }) => name), PATIENT).toEqual(['eerst', 'tweede']);
    expect(issued).toBe(1);
    other.answer = (_spans, headers) => (headers.authorization === 'Bearer token-1' ? { status: 401 } : undefined);
    await add('derde');
    await expect.poll(() => other.taken.map(({ name }) => name), PATIENT).toEqual(['eerst', 'tweede', 'derde']);
    expect(other.requests.at(-1)?.headers.authorization).toBe('Bearer token-2');
    // The issuer does not receive the trace.
    const basic = `Basic ${Buffer.from('logboek:geheim').toString('base64')}`;
    expect(asked[0]).toEqual([basic, undefined, 'grant_type=client_credentials&scope=create%3Anormal']);
  } finally {
    await with_.stop();
    issuer.closeAllConnections();
    issuer.close();
    await other.close();
  }
});

it.each([
  [{ LDV_FORWARD_TOKEN_URL: 'https://a.example/token' }, ['LDV_FORWARD_CLIENT_ID', 'LDV_FORWARD_CLIENT_SECRET']],
  [
    { NODE_ENV: 'production', PUBLIC_BASE_URL: 'https://log.example', LDV_FORWARD_URL: 'http://a.example/ldv' },
    ['LDV_FORWARD_URL'],
  ],
])('contradictory settings are reported: %j', (env, variables) => {
  const read = () =>
    readConfig(
      {
        AREAS: 'verwerkingenlog',
        OAUTH_ISSUER: 'https://i.example',
        OAUTH_AUDIENCE: 'x',
        VERWERKINGENLOG_KEY: KEY,
        DATABASE_URL: 'postgres://db.example/log',
        ...env,
      },
      'serve',
    );
  let faults: readonly string[] = [];
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults = error.faults.map(({ variable }) => variable);
  }
  expect(faults).toEqual(variables);
});
