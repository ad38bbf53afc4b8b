import { request } from 'undici';
import { VerwerkingenlogError } from './verwerkingenlog-error.ts';

export interface ClientCredentials {
  /** The `token` endpoint of the authorization server. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
}

const TIMEOUT_MS = 5000;
/** A token is fetched anew this long before it ends. */
const MARGIN_MS = 30_000;

/**
 * Access tokens by client credentials (RFC 6749 section 4.4), fetched when needed and kept until shortly before they end; callers that
 * come together share one fetch.
 */
export function clientCredentials(credentials: ClientCredentials): () => Promise<string> {
  let current: { readonly token: string; readonly until: number } | undefined;
  let fetching: Promise<string> | undefined;
  return async () => {
    if (current !== undefined && Date.now() < current.until) return current.token;
    fetching ??= fetchToken(credentials)
      .then(({ token, seconds }) => {
        current = { token, until: Date.now() + seconds * 1000 - MARGIN_MS };
        return token;
      })
      .finally(() => {
        fetching = undefined;
      });
    return fetching;
  };
}

async function fetchToken(credentials: ClientCredentials): Promise<{ token: string; seconds: number }> {
  const basic = [credentials.clientId, credentials.clientSecret].map(encodeURIComponent).join(':');
  const { statusCode, body } = await request(credentials.tokenUrl, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(basic).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: credentials.scopes.join(' ') }).toString(),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  }).catch((cause: unknown) => {
    throw new VerwerkingenlogError('the authorization server cannot be reached', { cause });
  });
  const answer: unknown = await body.json().catch(() => undefined);
  if (statusCode !== 200 || !isTokenAnswer(answer)) {
    throw new VerwerkingenlogError(`the authorization server gave no token (${statusCode})`, {
      status: statusCode,
      problem: answer,
    });
  }
  return { token: answer.access_token, seconds: typeof answer.expires_in === 'number' ? answer.expires_in : 60 };
}

function isTokenAnswer(value: unknown): value is { access_token: string; expires_in?: unknown } {
  return (
    typeof value === 'object' && value !== null && 'access_token' in value && typeof value.access_token === 'string'
  );
}
