/** The requests of a suite: one after the other, at a bounded rate, each with what was sent and what came. */
import { setTimeout as wait } from 'node:timers/promises';
import { reasonOf } from '../../lib/log.ts';
import {
  createGuardedConnections,
  headerValue,
  type ProxySettings,
  readBody,
} from '../../lib/outbound/guarded-fetch.ts';
import { OutboundError } from '../../lib/outbound/outbound-error.ts';
import { retryAfterMs, systemClock } from '../../lib/time.ts';
import { Inconclusive } from './case.ts';

/** A request, as cases write it down. */
export interface Ask {
  /** Address, in which `{name}` is a value of the subject. */
  readonly to: string;
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request and its answer. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly sent: Readonly<Record<string, string>>;
  readonly status: number;
  /** Names in lower case; one that came more than once is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** After decompression. */
  readonly body: Buffer;
  /** Undefined when the body is not JSON in UTF-8. */
  readonly json: unknown;
}

/** An exchange as it is kept to be shown: with the beginning of what it carried, never half a character. */
export interface ShownExchange extends Omit<Exchange, 'body' | 'json'> {
  readonly text: string;
}

/** What was read of a stream until enough had come or the time was over. */
export interface StreamReading extends Exchange {
  readonly text: string;
}

export interface Client {
  /** @throws {Inconclusive} when no complete answer came; the signal's reason */
  send(ask: Ask): Promise<Exchange>;
  /** Reads a stream until `isEnough` of its text, or for `forMs`. @throws as `send` */
  readStream(ask: Ask, isEnough: (text: string) => boolean, forMs: number): Promise<StreamReading>;
  /** Every exchange so far. */
  readonly exchanges: readonly ShownExchange[];
  close(): Promise<void>;
}

interface ClientOptions {
  /** Address of what is tested. Where its answers lead to other hosts, those must be on the public internet. */
  readonly subject: string;
  /** Requests in a second at most. */
  readonly rate: number;
  readonly signal: AbortSignal;
  readonly proxy?: ProxySettings;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;
const STREAM_BYTES = 1024 * 1024;
/** Characters of a body that are kept of an answer after its case. */
const SHOWN_BODY = 2000;
/** Of `Retry-After`; who says longer is not waited for. */
const LONGEST_WAIT_MS = 30_000;
const MOST_WAITS = 2;

export function createClient({ subject, rate, signal, proxy }: ClientOptions): Client {
  const connect = (allowPrivate: boolean) =>
    createGuardedConnections({
      rules: { allowPrivate },
      proxy,
      maxRedirects: 0,
      connectTimeoutMs: 10_000,
      agent: { connections: 2, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, keepAliveTimeout: 4_000 },
    });
  // The person who tests names the address, often of a machine in the same network; what it answers names others.
  const named = connect(true);
  const others = connect(false);
  const { host } = new URL(subject);
  const exchanges: ShownExchange[] = [];
  let nextAt = 0;

  const turn = async (): Promise<void> => {
    const now = performance.now();
    const at = Math.max(now, nextAt);
    nextAt = at + 1000 / rate;
    if (at > now) await wait(at - now, undefined, { signal });
  };

  const open = async ({ to, method = 'GET', headers = {} }: Ask, over: AbortSignal) => {
    await turn();
    const sent = { accept: 'application/json', 'user-agent': 'koppelvlak-conformance', ...headers };
    const connections = URL.parse(to)?.host === host ? named : others;
    const { answer } = await connections.request(to, { method, headers: sent, signal: over }, 'none');
    const received = Object.entries(answer.headers).map(([name, value]) => [name, headerText(value)] as const);
    const exchange = { method, url: to, sent, status: answer.statusCode, headers: Object.fromEntries(received) };
    return { exchange, stream: answer.body };
  };

  /** Waits where the answer says that it is too busy. */
  const send = async (ask: Ask, waits = 0): Promise<Exchange> => {
    const over = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const { exchange, stream } = await open(ask, over);
      const encoding = exchange.method === 'HEAD' ? undefined : exchange.headers['content-encoding'];
      const body = await readBody(stream, encoding, MAX_BYTES);
      const whole = { ...exchange, body, json: parse(body) };
      exchanges.push(shown(whole));
      const again = [429, 503].includes(whole.status)
        ? retryAfterMs(whole.headers['retry-after'], systemClock.now())
        : undefined;
      if (again === undefined || again > LONGEST_WAIT_MS || waits === MOST_WAITS) return whole;
      await wait(again, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new Inconclusive(over.aborted ? `no answer within ${TIMEOUT_MS / 1000} seconds` : explain(error));
    }
    return send(ask, waits + 1);
  };

  return {
    exchanges,
    send: (ask) => send(ask),
    async readStream(ask, isEnough, forMs) {
      const ended = AbortSignal.timeout(forMs);
      const over = AbortSignal.any([signal, ended]);
      let text = '';
      try {
        const { exchange, stream } = await open(
          { ...ask, headers: { accept: 'text/event-stream', ...ask.headers } },
          over,
        );
        // One that is destroyed before its end emits an error.
        stream.on('error', () => undefined);
        const decoder = new TextDecoder();
        try {
          for await (const piece of stream) {
            text += decoder.decode(Buffer.from(piece), { stream: true });
            if (isEnough(text) || text.length > STREAM_BYTES) break;
          }
        } catch (error) {
          signal.throwIfAborted();
          if (!ended.aborted) throw error;
        } finally {
          stream.destroy();
        }
        const reading = { ...exchange, text, body: Buffer.from(text), json: undefined };
        exchanges.push(shown(reading));
        return reading;
      } catch (error) {
        signal.throwIfAborted();
        throw new Inconclusive(ended.aborted ? `no answer within ${forMs / 1000} seconds` : explain(error));
      }
    },
    async close() {
      await Promise.all([named.close(), others.close()]);
    },
  };
}

function headerText(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (headerValue(value) ?? '');
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function explain(error: unknown): string {
  return error instanceof OutboundError ? error.message : `no answer (${reasonOf(error).slice(0, 200)})`;
}

/** What a suite keeps of an answer once its case has been judged: its memory does not grow with what others send. */
export function shown({ method, url, sent, status, headers, body }: Exchange): ShownExchange {
  return { method, url, sent, status, headers, text: beginning(body) };
}

function beginning(body: Buffer): string {
  // Four bytes are the longest character.
  const bytes = body.subarray(0, 4 * SHOWN_BODY);
  const text = new TextDecoder().decode(bytes, { stream: bytes.length < body.length });
  if (text.includes('\0')) return `(${body.length} bytes that are not text)`;
  if (text.length <= SHOWN_BODY && bytes.length === body.length) return text;
  return `${text.slice(0, SHOWN_BODY).toWellFormed()}… (${body.length} bytes)`;
}
