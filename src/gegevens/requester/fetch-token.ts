import { request } from 'undici';
import { isRecord } from '../../kernel/json-value.ts';
import { reasonOf } from '../../kernel/log.ts';
import { RequesterError } from './requester-error.ts';

export interface TokenRequest {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const MAX_CHARACTERS = 64 * 1024;

/** An access token by client credentials with scope `read` (RFC 6749 section 4.4). @throws {RequesterError} */
export async function fetchToken({ url, clientId, clientSecret, timeoutMs, signal }: TokenRequest): Promise<string> {
  // Id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1).
  const basic = [clientId, clientSecret].map((text) => encodeURIComponent(text)).join(':');
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(basic).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials&scope=read',
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    signal,
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new RequesterError(`the token endpoint ${url} cannot be reached: ${reasonOf(cause)}`, { cause });
  });
  let text = '';
  for await (const chunk of body) {
    text += String(chunk);
    if (text.length > MAX_CHARACTERS) throw new RequesterError('the token endpoint answers with too much');
  }
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = undefined;
  }
  const token = isRecord(answer) ? answer.access_token : undefined;
  if (statusCode === 200 && typeof token === 'string') return token;
  const reason = isRecord(answer) && typeof answer.error === 'string' ? ` (${answer.error})` : '';
  throw new RequesterError(`the token endpoint answered ${statusCode}${reason}, not a token`);
}
