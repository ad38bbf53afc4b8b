import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { JWK } from 'jose';
import type { AuthorizationClient } from './client.ts';
import { buildProvider } from './provider.ts';
import { loadSigningKey } from './signing-key.ts';

export type AuthorizationServerOptions = {
  /** 0: a free one. Listens on the loopback address only. */
  port: number;
  /** How the tokens and the metadata name this server; default `http://127.0.0.1:<port>`. */
  issuer?: string | undefined;
  audience: string;
  clients: readonly AuthorizationClient[];
  /** Where the signing key is kept; it is made when the directory has none. */
  keysDirectory: string;
  /** Whether this is a production environment: then the server refuses to start. */
  production: boolean;
  /** Life of a token in seconds; default 3600. */
  tokenSeconds?: number | undefined;
  log: AuthorizationServerLog;
};

/** A pino logger is one. Neither tokens nor secrets are written. */
export type AuthorizationServerLog = {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

export type AuthorizationServer = { issuer: string; tokenUrl: string; jwksUrl: string; close(): Promise<void> };

/** The door is as narrow as the job: the library has more endpoints than this server is for. */
const paths = new Set([
  '/token',
  '/jwks',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
]);

/**
 * Starts a real authorization server for the demo and the tests: client credentials, JWT access tokens (RFC 9068).
 *
 * @throws {Error} in production, or when the port is taken
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  if (options.production) throw new Error('the authorization server of the demo does not start in production');
  const signingKey = await loadSigningKey(options.keysDirectory);
  const server = createServer({ requestTimeout: 10_000 });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  try {
    // Only now is the port known, and with it the name of the issuer.
    const address = `http://127.0.0.1:${portOf(server)}`;
    const issuer = options.issuer ?? address;
    serve(server, issuer, signingKey, options);
    return { issuer, tokenUrl: `${address}/token`, jwksUrl: `${address}/jwks`, close: () => close(server) };
  } catch (error) {
    await close(server);
    throw error;
  }
}

function serve(server: Server, issuer: string, signingKey: JWK, options: AuthorizationServerOptions): void {
  const provider = buildProvider({ ...options, issuer, signingKey, tokenSeconds: options.tokenSeconds ?? 3600 });
  provider.on('grant.success', (ctx) => {
    options.log.info({ clientId: ctx.oidc.client?.clientId }, 'access token issued');
  });
  provider.on('grant.error', (ctx, error) => {
    options.log.info({ clientId: ctx.oidc.client?.clientId, error: error.error }, 'access token refused');
  });
  provider.on('server_error', (_ctx, err) => options.log.error({ err }, 'the authorization server failed'));
  // What goes wrong below HTTP, such as a client that went away, would be printed.
  provider.onerror = (err) => options.log.error({ err }, 'the authorization server failed');
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (paths.has(URL.parse(request.url ?? '', issuer)?.pathname ?? '')) {
      void answer(request, response);
      return;
    }
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not_found"}');
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the authorization server has no port');
  return address.port;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
