import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { isRecord } from '../../../lib/json/json-value.ts';
import { reasonOf } from '../../../lib/log.ts';

interface RequesterErrorOptions extends ErrorOptions {
  readonly isTemporary?: boolean;
}

/** A supplier's endpoint did not do what its contract says; the message is for the person who asked. */
export class RequesterError extends Error {
  /** Whether it may be otherwise later without anybody changing anything: the supplier is away or overloaded. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary = false, ...options }: RequesterErrorOptions = {}) {
    super(message, options);
    this.name = 'RequesterError';
    this.isTemporary = isTemporary;
  }
}

interface SendOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are new for each attempt. */
  readonly freshHeaders?: (() => Readonly<Record<string, string>>) | undefined;
  readonly body: string;
  /** Milliseconds without a byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Default 4. */
  readonly attempts?: number;
  /** Called before it waits to try again. */
  readonly waiting: (why: string) => void;
}

export interface SupplierResponse {
  readonly status: number;
  /** All values of each header. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
  /** The `Fsc-Transaction-Id` that was sent, if one was. */
  readonly transactionId?: string | undefined;
}

export function isTemporaryStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

const ATTEMPTS = 4;
const LONGEST_WAIT_MS = 60_000;

/** Sends a request; after 429, 502 or 503 it is tried again when `Retry-After` says so. @throws {RequesterError} */
export async function sendRequest(options: SendOptions): Promise<SupplierResponse> {
  for (let attempt = 1; ; attempt += 1) {
    const answered = await sendOnce(options);
    const again = answered.status === 429 || answered.status === 502 || answered.status === 503;
    if (!again || attempt >= (options.attempts ?? ATTEMPTS)) return answered;
    const named = Number(answered.headers['retry-after']?.[0]) * 1000;
    const wait = Math.min(Number.isFinite(named) ? named : 1000 * 2 ** attempt, LONGEST_WAIT_MS);
    options.waiting(`status ${answered.status}: trying again in ${Math.ceil(wait / 1000)} s`);
    await delay(wait, undefined, { signal: options.signal });
  }
}

async function sendOnce(options: SendOptions): Promise<SupplierResponse> {
  const { url, body: sent, timeoutMs, maxBytes, signal } = options;
  const headers = { ...options.headers, ...options.freshHeaders?.() };
  let received: Awaited<ReturnType<typeof request>>;
  try {
    received = await request(url, {
      method: 'POST',
      headers,
      body: sent,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new RequesterError(`${url} cannot be reached: ${reasonOf(cause)}`, { cause, isTemporary: true });
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of received.body) {
      const part = Buffer.from(chunk);
      bytes += part.length;
      if (bytes > maxBytes) throw new RequesterError(`the answer is larger than ${maxBytes} bytes`);
      chunks.push(part);
    }
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof RequesterError) throw cause;
    throw new RequesterError(`the answer of ${url} broke off: ${reasonOf(cause)}`, { cause, isTemporary: true });
  }
  const values = Object.entries(received.headers).map(([name, value = []]) => [name, [value].flat()]);
  return {
    status: received.statusCode,
    headers: Object.fromEntries(values),
    body: Buffer.concat(chunks),
    transactionId: headers['fsc-transaction-id'],
  };
}

interface TokenRequest {
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
    throw new RequesterError(`the token endpoint ${url} cannot be reached: ${reasonOf(cause)}`, {
      cause,
      isTemporary: true,
    });
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
  const isTemporary = isTemporaryStatus(statusCode);
  throw new RequesterError(`the token endpoint answered ${statusCode}${reason}, not a token`, { isTemporary });
}
