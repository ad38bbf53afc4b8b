import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { reasonOf } from '../../kernel/log.ts';
import { RequesterError } from './requester-error.ts';

export interface SendOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds without a byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Called before it waits to try again. */
  readonly waiting: (why: string) => void;
}

export interface Answered {
  readonly status: number;
  /** Every value of each header, apart. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Buffer;
}

const ATTEMPTS = 4;
const LONGEST_WAIT_MS = 60_000;

/** Sends a request; one that meets a limit or a service that is away is tried again after the time it names. @throws {RequesterError} */
export async function sendRequest(options: SendOptions): Promise<Answered> {
  for (let attempt = 1; ; attempt += 1) {
    const answered = await sendOnce(options);
    const again = answered.status === 429 || answered.status === 502 || answered.status === 503;
    if (!again || attempt === ATTEMPTS) return answered;
    const named = Number(answered.headers['retry-after']?.[0]) * 1000;
    const wait = Math.min(Number.isFinite(named) ? named : 1000 * 2 ** attempt, LONGEST_WAIT_MS);
    options.waiting(`status ${answered.status}: trying again in ${Math.ceil(wait / 1000)} s`);
    await delay(wait, undefined, { signal: options.signal });
  }
}

async function sendOnce(options: SendOptions): Promise<Answered> {
  const { url, headers, body: sent, timeoutMs, maxBytes, signal } = options;
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
    throw new RequesterError(`${url} cannot be reached: ${reasonOf(cause)}`, { cause });
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of received.body) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > maxBytes) throw new RequesterError(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(part);
  }
  const values = Object.entries(received.headers).map(([name, value = []]) => [name, [value].flat()]);
  return { status: received.statusCode, headers: Object.fromEntries(values), body: Buffer.concat(chunks) };
}
