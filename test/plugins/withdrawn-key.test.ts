// A token of a withdrawn key stops working within the cache time, however often it was accepted before.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { audience, oauthToken, signingKey } from './oauth/support/issuer.ts';

const first = await signingKey('een', 'ES256');
const second = await signingKey('twee', 'ES256');
let published: (typeof first)[] = [first];
let away = false;
let issuer: Server;
let url: string;
let server: TestServer;

beforeAll(async () => {
  issuer = createServer((_request, response) => {
    response.writeHead(away ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ keys: published.map(({ publicJwk }) => publicJwk) }));
  });
  issuer.listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  const address = issuer.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `http://127.0.0.1:${address.port}`;
  server = await startServer({
    env: {
      AREAS: 'verwerkingenlog',
      OAUTH_ISSUER: url,
      OAUTH_AUDIENCE: audience,
      OAUTH_JWKS_URL: `${url}/jwks`,
      'tokens.oauthJwksCacheSeconds': '2',
    },
  });
});
afterAll(async () => {
  await server.stop();
  issuer.closeAllConnections();
  issuer.close();
});

async function status(token: string): Promise<number> {
  const response = await fetch(`${server.url}/verwerkingenlog/v1/verwerkingsactiviteiten`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await response.text();
  return response.status;
}

it('is accepted while its issuer is unavailable, and refused once its key is withdrawn', async () => {
  const claims = { scope: 'read:normal' };
  const token = await oauthToken(first, url, claims);
  await expect.poll(() => status(token)).toBe(200);
  away = true;
  const end = Date.now() + 4_000;
  while (Date.now() < end) {
    expect(await status(token)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  away = false;
  published = [second];
  // Another key causes an immediate request; otherwise the cache time and the wait after a failure would pass first.
  expect(await status(await oauthToken(second, url, claims))).toBe(200);
  expect(await status(token)).toBe(401);
  // By the cache time: well before the half minute after which an unknown key is requested again.
  const renewed = { timeout: 20_000 };
  published = [first];
  await expect.poll(() => status(token), renewed).toBe(200);
  published = [second];
  await expect.poll(() => status(token), renewed).toBe(401);
});
