/** Our own access tokens for calls to other services: by client credentials (RFC 6749 section 4.4). */
import { type Dispatcher, request } from 'undici';
import { isRecord } from '../json/json-value.ts';
import { parseIfJson } from '../json/parse-untrusted.ts';
import { shareRuns } from '../scheduling.ts';
import { readBody } from './guarded-fetch.ts';

export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Makes a signed JWT that proves the client's identity (RFC 7523 section 2.2), instead of the secret. */
  readonly assertion?: (() => Promise<string>) | undefined;
  readonly scopes: readonly string[];
}

export interface TokenWish {
  /** A refused token, to be replaced. Callers with the same refused token share its replacement. */
  readonly refused?: string | undefined;
}

export class TokenFetchError extends Error {
  override readonly name = 'TokenFetchError';
  readonly status: number | undefined;
  readonly answer: unknown;

  constructor(message: string, { status, answer, cause }: { status?: number; answer?: unknown; cause?: unknown }) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
    this.answer = answer;
  }
}

const TOKEN_TIMEOUT_MS = 5000;
/** For the whole answer: one that arrives byte by byte would last for hours. */
const TOKEN_LONGEST_MS = 15_000;
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const TOKEN_MAX_BYTES = 64 * 1024;
const RENEWAL_MARGIN_MS = 30_000;

/** Returns a function that gives a token: reused until shortly before it expires, and fetched once for simultaneous calls. */
export function clientCredentialsToken(
  credentials: ClientCredentials,
  dispatcher?: Dispatcher,
): (wish?: TokenWish) => Promise<string> {
  let current: { readonly token: string; readonly until: number } | undefined;
  const fetching = shareRuns(async () => {
    const { token, seconds } = await fetchToken(credentials, dispatcher);
    current = { token, until: Date.now() + seconds * 1000 - RENEWAL_MARGIN_MS };
    return token;
  });
  return async ({ refused } = {}) => {
    if (current !== undefined && current.token !== refused && Date.now() < current.until) return current.token;
    return await fetching.run();
  };
}

async function fetchToken(credentials: ClientCredentials, dispatcher: Dispatcher | undefined) {
  const { tokenUrl, clientId, clientSecret = '', scopes } = credentials;
  const assertion = await credentials.assertion?.();
  const form = {
    grant_type: 'client_credentials',
    scope: scopes.join(' '),
    ...(assertion === undefined ? {} : { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion }),
  };
  const basic = Buffer.from([clientId, clientSecret].map(encodeURIComponent).join(':')).toString('base64');
  const { statusCode, body } = await request(tokenUrl, {
    method: 'POST',
    headers: {
      ...(assertion === undefined ? { authorization: `Basic ${basic}` } : {}),
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: new URLSearchParams(form).toString(),
    headersTimeout: TOKEN_TIMEOUT_MS,
    bodyTimeout: TOKEN_TIMEOUT_MS,
    signal: AbortSignal.timeout(TOKEN_LONGEST_MS),
    ...(dispatcher === undefined ? {} : { dispatcher }),
  }).catch((cause: unknown) => {
    throw new TokenFetchError('the authorization server cannot be reached', { cause });
  });
  // The status tells more than the absence of JSON.
  const bytes = await readBody(body, undefined, TOKEN_MAX_BYTES).catch(() => undefined);
  const answer = bytes && parseIfJson(bytes, { bytes: TOKEN_MAX_BYTES });
  const { access_token: token, expires_in: seconds } = isRecord(answer) ? answer : {};
  if (statusCode !== 200 || typeof token !== 'string') {
    throw new TokenFetchError(`the authorization server gave no token (${statusCode})`, { status: statusCode, answer });
  }
  return { token, seconds: typeof seconds === 'number' ? seconds : 60 };
}
