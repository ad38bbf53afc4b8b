import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuthorizationServer, startAuthorizationServer } from '../../../src/demo/authorization-server.ts';
import { fetchToken } from '../../../src/gegevens/tools/requester/send-request.ts';
import { createLogger } from '../../../src/lib/log.ts';

const SECRET = 'met+plus/streep=is&en%procent:dubbel-lang-genoeg';
const dir = mkdtempSync(join(tmpdir(), 'token-'));
let server: AuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer({
    environment: 'test',
    port: 0,
    audience: 'https://koppelvlak.example/api',
    clients: [{ id: 'statistiek', scopes: ['read'], secret: SECRET }],
    keysDirectory: dir,
    log: createLogger('silent'),
  });
});
afterAll(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

const ask = (clientSecret: string, url = server.tokenUrl) => fetchToken({ url, clientId: 'statistiek', clientSecret });

it('gets a token with scope `read` from a real authorization server', async () => {
  expect(decodeJwt(await ask(SECRET))).toMatchObject({ client_id: 'statistiek', scope: 'read' });
});

it('reports why there is no token', async () => {
  await expect(ask('iets-anders-dan-het-geheim-van-deze-afnemer')).rejects.toThrow(
    'the token endpoint answered 401 (invalid_client), not a token',
  );
  await expect(ask(SECRET, `${server.issuer}/nergens`)).rejects.toThrow(/answered 404/);
});
