import { type Dispatcher, request } from 'undici';
import { isRecord } from '../../../kernel/is-record.ts';
import { createOutboundAgent, type ProxySettings } from '../../../kernel/outbound/outbound-agent.ts';
import { retryAfterMs } from '../../../kernel/outbound/retry.ts';
import { CallGate } from './call-gate.ts';
import type { CallTurns } from './call-turns.ts';
import { NotubizError } from './notubiz-error.ts';
import { readJson } from './read-json.ts';
import { RETRY_POLICY, type RetryPolicy, withRetries } from './retry.ts';

/** The public API of NotuBiz. */
export const PUBLIC_BASE = 'https://api.notubiz.nl';

/** The version whose answers this adapter knows. */
const VERSION = '1.17.0';
const ERROR_BODY_BYTES = 65_536;

export interface NotubizClientOptions {
  /** Base address without a trailing slash. Default: the public API. */
  readonly base?: string;
  /** Calls at once. Default 4. */
  readonly concurrency?: number;
  /** Milliseconds for one call, its body included. Default 90 000. */
  readonly timeout?: number;
  /** Bytes of an answer at most, after decompression. Default 64 MiB. */
  readonly maxBytes?: number;
  readonly retry?: RetryPolicy;
  /** By way of which the calls go; absent: direct. */
  readonly proxy?: ProxySettings;
  /** Turns that are shared with other processes; absent: the limits hold for this client. The client closes them. */
  readonly turns?: CallTurns;
}

export type Query = Readonly<Record<string, string>>;

/** Calls NotuBiz within the limits that hold for all its organisations together. */
export class NotubizClient {
  readonly base: string;
  readonly #timeout: number;
  readonly #maxBytes: number;
  readonly #retry: RetryPolicy;
  readonly #gate: CallGate;
  readonly #agent: Dispatcher;
  readonly #turns: CallTurns | undefined;

  constructor(options: NotubizClientOptions = {}) {
    const connections = options.concurrency ?? 4;
    this.base = options.base ?? PUBLIC_BASE;
    this.#timeout = options.timeout ?? 90_000;
    this.#maxBytes = options.maxBytes ?? 67_108_864;
    this.#retry = options.retry ?? RETRY_POLICY;
    this.#turns = options.turns;
    this.#gate = new CallGate({ limit: connections, patience: this.#retry.maxDelay, turns: options.turns });
    const proxy = options.proxy ?? { outboundProxy: undefined, outboundNoProxy: [] };
    const timeouts = { headersTimeout: this.#timeout, bodyTimeout: this.#timeout };
    this.#agent = createOutboundAgent(proxy, { connections, ...timeouts });
  }

  /**
   * One answer, parsed but not judged. Redirects are not followed: the address was configured.
   * @param path from the base, with a leading slash
   * @param attempts calls at most, where that is less than usual: for an answer that can be asked for in parts
   * @throws {NotubizError} when no usable answer came, after the retries; the signal's reason when it is aborted
   */
  async get(path: string, query: Query, signal: AbortSignal, attempts = this.#retry.attempts): Promise<unknown> {
    const url = new URL(this.base + path);
    const all = { ...query, format: 'json', version: VERSION };
    for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
    const call = (): Promise<unknown> => this.#gate.run(() => this.#once(url, signal), signal);
    const policy = { ...this.#retry, attempts: Math.min(attempts, this.#retry.attempts) };
    return await withRetries(call, policy, signal);
  }

  async close(): Promise<void> {
    this.#turns?.close();
    await this.#agent.destroy();
  }

  async #once(url: URL, signal: AbortSignal): Promise<unknown> {
    const deadline = AbortSignal.timeout(this.#timeout);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        signal: AbortSignal.any([signal, deadline]),
        headers: { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'koppelvlak' },
      });
      const encoding = text(response.headers['content-encoding'])?.toLowerCase();
      if (response.statusCode === 200) return await readJson(response.body, encoding, this.#maxBytes);
      const message = await readMessage(response.body, encoding);
      const retryAfter = retryAfterMs(text(response.headers['retry-after']), new Date());
      if (retryAfter !== undefined) await this.#gate.closeFor(retryAfter);
      throw new NotubizError('status', `status ${response.statusCode}${message}`, {
        status: response.statusCode,
        retryAfter,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw new NotubizError('unavailable', `no answer within ${this.#timeout} ms`);
      if (error instanceof NotubizError) throw error;
      throw new NotubizError('unavailable', reason(error), { cause: error });
    }
  }
}

/** What the supplier says about an error; its errors are JSON with a `message`, or a page of a proxy. */
async function readMessage(body: Parameters<typeof readJson>[0], encoding: string | undefined): Promise<string> {
  try {
    const answer = await readJson(body, encoding, ERROR_BODY_BYTES);
    return isRecord(answer) && typeof answer.message === 'string' ? `: ${answer.message.slice(0, 200)}` : '';
  } catch (error) {
    if (error instanceof NotubizError) return '';
    throw error;
  }
}

function text(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function reason(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? `no connection (${error.code})`
    : 'no connection';
}
