// The authorization server of the demo: oidc-provider, told to do client credentials only. @see RFC 6749 section 4.4
import type { JWK } from 'jose';
import { type Client, type ClientMetadata, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { AuthorizationClient } from './client.ts';
import { createMemoryAdapter } from './memory-adapter.ts';
import { allScopes } from './scopes.ts';

export type ProviderOptions = {
  issuer: string;
  /** `aud` of every token. */
  audience: string;
  clients: readonly AuthorizationClient[];
  /** Private ES256 key with a `kid`. */
  signingKey: JWK;
  tokenSeconds: number;
};

/** The library names a resource server by an address, while an audience may be any text. */
const resource = 'urn:koppelvlak:api';

/** Builds the server without listening. */
export function buildProvider(options: ProviderOptions): Provider {
  return new Provider(options.issuer, {
    adapter: createMemoryAdapter,
    clients: options.clients.map(metadataOf),
    clientAuthMethods: ['client_secret_basic', 'private_key_jwt'],
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'], clientAuthSigningAlgValues: ['ES256', 'PS256', 'RS256'] },
    jwks: { keys: [{ ...options.signingKey }] },
    responseTypes: [],
    scopes: allScopes,
    routes: { token: '/token', jwks: '/jwks' },
    ttl: { ClientCredentials: options.tokenSeconds },
    clientBasedCORS: () => false,
    features: {
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo(ctx, indicator, client) {
          if (indicator !== resource && indicator !== options.audience) throw new errors.InvalidTarget();
          return {
            scope: grantScopes(ctx, client),
            audience: options.audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: options.tokenSeconds,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
    },
  });
}

/**
 * All scopes of the client, and a request for none in particular becomes a request for all of them: RFC 6749 section 3.3
 * leaves that default to the server. One that the client has not is an error, also for a client that has none at all.
 */
function grantScopes(ctx: KoaContextWithOIDC, client: Client): string {
  const granted = client.scope ?? '';
  const { params } = ctx.oidc;
  if (params === undefined) return granted;
  if (typeof params.scope !== 'string') {
    if (granted !== '') params.scope = granted;
    return granted;
  }
  const has = new Set(granted.split(' '));
  const other = params.scope.split(' ').find((scope) => !has.has(scope));
  if (other !== undefined) throw new errors.InvalidScope('requested scope is not allowed', other);
  return granted;
}

function metadataOf(client: AuthorizationClient): ClientMetadata {
  const scope = client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') };
  if ('secret' in client) {
    return {
      client_id: client.id,
      client_secret: client.secret,
      token_endpoint_auth_method: 'client_secret_basic',
      ...scope,
    };
  }
  const jwks = { keys: client.publicKeys.map((key) => ({ ...key })) };
  return { client_id: client.id, jwks, token_endpoint_auth_method: 'private_key_jwt', ...scope };
}
