import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { isRecord } from '../../../lib/json/json-value.ts';
import { ANSWER_LIMITS, JsonCounter, parseIfJson } from '../../../lib/json/parse-untrusted.ts';
import { reasonOf } from '../../../lib/log.ts';
import { clientCredentialsToken, TokenFetchError } from '../../../lib/outbound/client-credentials.ts';
import { readBody } from '../../../lib/outbound/guarded-fetch.ts';
import { OutboundError } from '../../../lib/outbound/outbound-error.ts';

/** A supplier's endpoint violated its contract; the message is for the requester. */
export class RequesterError extends Error {
  /** Whether a retry may succeed: the supplier is unavailable or overloaded. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary = false, ...options }: ErrorOptions & { isTemporary?: boolean } = {}) {
    super(message, options);
    this.name = 'RequesterError';
    this.isTemporary = isTemporary;
  }
}

interface SendOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds without a byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Headers that are new for each attempt. */
  readonly freshHeaders?: (() => Readonly<Record<string, string>>) | undefined;
  readonly attempts?: number;
  /** Called before it waits to try again. */
  readonly waiting: (why: string) => void;
}

export interface SupplierResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
  /** The `Fsc-Transaction-Id` that was sent, if one was. */
  readonly transactionId?: string | undefined;
}

export function isTemporaryStatus(status: number): boolean {
  return status === 429 || status >= 500;
}

const ATTEMPTS = 4;
/** Limit for an answer that is not a delivery: it explains a refusal and is not signed. */
const PROBLEM_BYTES = 65_536;
const LONGEST_WAIT_MS = 60_000;

/** Sends a request; after 429, 502 or 503 it is retried when `Retry-After` says so. @throws {RequesterError} */
export async function sendRequest(options: SendOptions): Promise<SupplierResponse> {
  const { freshHeaders, waiting, signal, attempts = ATTEMPTS } = options;
  for (let attempt = 1; ; attempt += 1) {
    const headers = { ...options.headers, ...freshHeaders?.() };
    const answered = await post({ ...options, headers });
    if (![429, 502, 503].includes(answered.status) || attempt >= attempts)
      return { ...answered, transactionId: headers['fsc-transaction-id'] };
    const named = Number(answered.headers['retry-after']?.[0]) * 1000;
    const wait = Math.min(Number.isFinite(named) ? named : 1000 * 2 ** attempt, LONGEST_WAIT_MS);
    waiting(`status ${answered.status}: trying again in ${Math.ceil(wait / 1000)} s`);
    await delay(wait, undefined, { signal });
  }
}

/** @throws {RequesterError} without a complete answer; the signal's reason */
async function post({ url, timeoutMs, maxBytes, signal, ...options }: SendOptions): Promise<SupplierResponse> {
  const { headers, body } = options;
  try {
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const received = await request(url, { method: 'POST', headers, body, signal, ...timeouts });
    const values = Object.entries(received.headers).map(([header, value = []]) => [header, [value].flat()]);
    const isDelivery = received.statusCode === 200;
    const limit = isDelivery ? maxBytes : Math.min(maxBytes, PROBLEM_BYTES);
    // Counted before anything is verified.
    const counter = isDelivery ? new JsonCounter({ bytes: limit, ...ANSWER_LIMITS }) : undefined;
    const bytes = await readBody(received.body, undefined, limit, counter).catch((error: unknown) => {
      // The status tells more than an oversized body.
      if (!isDelivery && error instanceof OutboundError && error.code === 'too-large') return Buffer.alloc(0);
      throw error;
    });
    return { status: received.statusCode, headers: Object.fromEntries(values), body: bytes };
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof OutboundError)) {
      throw new RequesterError(`${url} cannot be reached: ${reasonOf(cause)}`, { cause, isTemporary: true });
    }
    const isTemporary = cause.code === 'broken-off';
    const what = isTemporary ? `the answer of ${url} broke off: ${reasonOf(cause.cause)}` : `${url}: ${cause.message}`;
    throw new RequesterError(what, { cause, isTemporary });
  }
}

/** An access token by client credentials with scope `read`. @throws {RequesterError} */
export async function fetchToken({
  url,
  ...client
}: {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}): Promise<string> {
  try {
    return await clientCredentialsToken({ ...client, tokenUrl: url, scopes: ['read'] })();
  } catch (cause) {
    if (!(cause instanceof TokenFetchError)) throw cause;
    const { status, answer } = cause;
    const isTemporary = status === undefined || isTemporaryStatus(status);
    const reason = isRecord(answer) && typeof answer.error === 'string' ? ` (${answer.error})` : '';
    const what =
      status === undefined
        ? `the token endpoint ${url} cannot be reached: ${reasonOf(cause.cause)}`
        : `the token endpoint answered ${status}${reason}, not a token`;
    throw new RequesterError(what, { cause, isTemporary });
  }
}

/** @returns `undefined` when it is not JSON in UTF-8, or exceeds the limits of an answer */
export function parseJson(body: Buffer): unknown {
  return parseIfJson(body, { bytes: body.length, ...ANSWER_LIMITS });
}
