import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const AUDIENCE = 'https://koppelvlak.example/api';

export interface TokenWishes {
  /** The caller; default `test`. */
  readonly subject?: string;
  /** Lifetime of the token in seconds; default 3600. */
  readonly seconds?: number;
  /** Claims added to or replacing the usual ones. */
  readonly claims?: Record<string, unknown>;
}

/** A token issuer for tests: its keys over HTTP on loopback, its tokens made here. */
export interface TestTokens {
  /** The environment with which a server accepts these tokens. */
  readonly env: { readonly OAUTH_ISSUER: string; readonly OAUTH_AUDIENCE: string; readonly OAUTH_JWKS_URL: string };
  /** Gives every client that identifies itself a token to log with. */
  readonly tokenUrl: string;
  /** A token with these scopes. */
  token(scopes: readonly string[], wishes?: TokenWishes): Promise<string>;
  /** The header with such a token; the same arguments give the same token. */
  bearer(scopes: readonly string[], wishes?: TokenWishes): Promise<{ authorization: string }>;
  close(): Promise<void>;
}

/** Starts an issuer on a free port. */
export async function startTokens(): Promise<TestTokens> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'ES256', use: 'sig' };
  const server = createServer(async (request, response) => {
    if (request.url === '/token') {
      const [client = ''] = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
        .toString()
        .split(':', 1);
      const answer = { access_token: await token(['create:normal'], { subject: client }), expires_in: 3600 };
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the issuer has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const made = new Map<string, Promise<string>>();

  const token: TestTokens['token'] = (scopes, { subject = 'test', seconds = 3600, claims = {} } = {}) => {
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({
      iss: issuer,
      aud: AUDIENCE,
      sub: subject,
      client_id: subject,
      scope: scopes.join(' '),
      iat: now,
      exp: now + seconds,
      jti: randomUUID(),
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'test', typ: 'at+jwt' })
      .sign(privateKey);
  };
  return {
    env: { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: AUDIENCE, OAUTH_JWKS_URL: `${issuer}/jwks` },
    tokenUrl: `${issuer}/token`,
    token,
    async bearer(scopes, wishes = {}) {
      const key = JSON.stringify([scopes, wishes]);
      const known = made.get(key) ?? token(scopes, wishes);
      made.set(key, known);
      return { authorization: `Bearer ${await known}` };
    },
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
