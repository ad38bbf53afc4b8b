import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const audience = 'https://koppelvlak.example/api';

type SigningKey = { kid: string; alg: string; pair: GenerateKeyPairResult; publicJwk: JWK };

/** A key pair with its public JWK. */
export async function signingKey(kid: string, alg: string): Promise<SigningKey> {
  const pair = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, pair, publicJwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' } };
}

type Answer = { status: number; body: unknown };

/** An issuer that serves whatever the test puts at its paths, and counts calls. */
export async function startIssuer() {
  const answers = new Map<string, Answer | 'hang'>();
  const calls: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    calls.push(path);
    const answer = answers.get(path) ?? { status: 404, body: {} };
    if (answer === 'hang') return;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      ...(answer.status === 302 ? { location: '/jwks' } : {}),
    });
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const count = (path = '/jwks') => calls.filter((call) => call === path).length;
  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    serve: (path: string, body: unknown, status = 200) => answers.set(path, { status, body }),
    hang: (path: string) => answers.set(path, 'hang'),
    serveKeys: (...keys: SigningKey[]) =>
      answers.set('/jwks', { status: 200, body: { keys: keys.map((key) => key.publicJwk) } }),
    count,
    /** Resolves when a path has been called this often. */
    async called(times: number, path = '/jwks') {
      while (count(path) < times) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

/** A valid issuer's token, changed as the test needs; `undefined` omits a claim or member. */
export async function oauthToken(
  key: SigningKey,
  issuer: string,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload: JWTPayload = {
    iss: issuer,
    aud: audience,
    sub: 'statistiek',
    client_id: 'statistiek',
    scope: 'read',
    iat: now,
    exp: now + 300,
    jti: crypto.randomUUID(),
    ...claims,
  };
  return await new SignJWT(payload)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key.pair.privateKey);
}
