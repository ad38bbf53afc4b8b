/** The requests of a suite, sent one at a time at a bounded rate and recorded with their answers. */
import { setTimeout as wait } from 'node:timers/promises';
import { JsonCounter, parseUntrusted, UntrustedJsonError, unwritable } from '../src/lib/json/parse-untrusted.ts';
import { reasonOf } from '../src/lib/log.ts';
import { createGuardedConnections, type ProxySettings, readBody } from '../src/lib/outbound/guarded-fetch.ts';
import { OutboundError } from '../src/lib/outbound/outbound-error.ts';
import { retryAfterMs, systemClock } from '../src/lib/time.ts';
import { Inconclusive, Skipped } from './case.ts';
import type { Ask, Client, Exchange, ShownExchange } from './exchange.ts';
import { createMask } from './mask.ts';
import { type RunLimit, unlessAborted } from './run-limit.ts';
import { saveExchange } from './saved-exchanges.ts';

export interface ClientNeeds {
  /** Access tokens by their names in cases, each fetched when needed. */
  readonly tokens?: Readonly<Record<string, () => Promise<string>>>;
  /** The header for tokens. Default `authorization`. */
  readonly tokenHeader?: string;
  /** Secrets besides the tokens, never shown. */
  readonly secrets?: readonly string[];
  /** How to show an answer's body when it may contain personal data. Default: its beginning. */
  readonly showBody?: (exchange: Exchange) => string;
}

interface ClientOptions extends ClientNeeds {
  /** Base address of the subject. When its answers lead to other hosts, those must be on the public internet. */
  readonly subject: string;
  /** Maximum number of requests per second. */
  readonly rate: number;
  readonly signal: AbortSignal;
  /** Requests after it are inconclusive. */
  readonly limit?: RunLimit | undefined;
  readonly proxy?: ProxySettings;
  readonly save?: string | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 32 * 1024 * 1024;
const STREAM_BYTES = 1024 * 1024;
/** Characters of an answer's body kept after its case. */
const SHOWN_BODY = 2000;
/** Longest `Retry-After` that is honoured. */
const LONGEST_WAIT_MS = 30_000;
const MOST_WAITS = 2;
/** Total over all requests: a permanently busy service is not waited for. */
const LONGEST_WAITS_MS = 120_000;

export function createClient(options: ClientOptions): Client {
  const { subject, rate, signal, limit, proxy, tokens = {}, tokenHeader = 'authorization', save } = options;
  const ending = limit === undefined ? signal : AbortSignal.any([signal, limit.signal]);
  const { showBody = ({ body }) => beginning(body) } = options;
  const connect = (allowPrivate: boolean) =>
    createGuardedConnections({
      rules: { allowPrivate },
      proxy,
      maxRedirects: 0,
      connectTimeoutMs: 10_000,
      agent: { connections: 2, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, keepAliveTimeout: 4_000 },
    });
  // The tester chose this address, often on the same network; answers may name any other.
  const named = connect(true);
  const others = connect(false);
  const { host, origin } = URL.parse(subject) ?? {};
  const exchanges: ShownExchange[] = [];
  const secrets = new Set(options.secrets);
  const mask = createMask(secrets);
  let nextAt = 0;
  let waitedMs = 0;

  const show = (exchange: Exchange): ShownExchange => {
    const { method, url, sent, sentBody, status, headers } = exchange;
    return { method, url, sent, sentText: beginning(sentBody), status, headers, text: showBody(exchange) };
  };

  const keep = async (exchange: Exchange): Promise<void> => {
    exchanges.push(show(exchange));
    if (save === undefined) return;
    // Bodies are saved whole, because a signature covers every byte, except where they grant access.
    const safe = (bytes: Buffer): Buffer =>
      [...secrets].some((secret) => bytes.includes(secret)) ? Buffer.from(mask(bytes.toString())) : bytes;
    const whole = { ...exchange, sentBody: safe(exchange.sentBody), body: safe(exchange.body) };
    await saveExchange(save, exchanges.length, whole, mask);
  };

  const access = async (name: string | undefined): Promise<Record<string, string>> => {
    if (name === undefined) return {};
    const token = await unlessAborted(ending, tokens[name]?.());
    if (token === undefined) throw new Skipped(`there is no token for ${name}`);
    secrets.add(token);
    return { [tokenHeader]: `Bearer ${token}` };
  };

  const turn = async (): Promise<void> => {
    const now = performance.now();
    const at = Math.max(now, nextAt);
    nextAt = at + 1000 / rate;
    if (at > now) await wait(at - now, undefined, { signal: ending });
  };

  const open = async ({ to, method = 'GET', headers = {}, body, as }: Ask, over: AbortSignal) => {
    const usual = {
      accept: 'application/json',
      'user-agent': 'koppelvlak-conformance',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(await access(as)),
    };
    const all = Object.entries({ ...usual, ...headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : [...value]] as const],
    );
    const sentBody = bytesOf(body);
    await turn();
    const address = URL.parse(to);
    if (as !== undefined && address?.origin !== origin)
      throw new Inconclusive(`the answer leads to ${address?.host ?? to}, which gets no token of ${host}`);
    const connections = address?.host === host ? named : others;
    const { answer } = await connections.request(
      to,
      { method, headers: Object.fromEntries(all), body: body === undefined ? null : sentBody, signal: over },
      'none',
    );
    const [sent, received] = [headerTexts(all), headerTexts(Object.entries(answer.headers))];
    const exchange = { method, url: to, sent, sentBody, status: answer.statusCode, headers: received };
    return { exchange, stream: answer.body };
  };

  /**
   * The error for a request without a usable answer.
   * @throws the signal's reason
   */
  const unanswered = (error: unknown, late: AbortSignal, afterMs: number): Error => {
    signal.throwIfAborted();
    if (error instanceof Skipped || error instanceof Inconclusive) return error;
    if (limit?.signal.aborted) return new Inconclusive(limit.reason);
    if (late.aborted) return new Inconclusive(`no answer within ${afterMs / 1000} seconds`);
    if (error instanceof OutboundError) return new Inconclusive(error.message);
    return new Inconclusive(`no answer (${reasonOf(error).slice(0, 200)})`);
  };

  /** Waits when the answer says that the service is too busy. */
  const send = async (ask: Ask, waits = 0): Promise<Exchange> => {
    const over = AbortSignal.any([ending, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const { exchange, stream } = await open(ask, over);
      const encoding = exchange.method === 'HEAD' ? undefined : exchange.headers['content-encoding'];
      const mayBeJson = /^$|json/i.test(exchange.headers['content-type'] ?? '');
      const counter = mayBeJson ? new JsonCounter({ bytes: MAX_BYTES }) : undefined;
      const body = await readBody(stream, encoding, MAX_BYTES, counter).catch((error: unknown) => {
        // Truncated here, it is no longer JSON and is judged accordingly.
        if (error instanceof OutboundError && error.start !== undefined) return error.start;
        throw error;
      });
      const whole = { ...exchange, body, json: jsonIn(body) };
      await keep(whole);
      const again = [429, 503].includes(whole.status)
        ? retryAfterMs(whole.headers['retry-after'], systemClock.now())
        : undefined;
      if (again === undefined || again > LONGEST_WAIT_MS || waits === MOST_WAITS) return whole;
      if (waitedMs + again > LONGEST_WAITS_MS) return whole;
      waitedMs += again;
      await wait(again, undefined, { signal: ending });
    } catch (error) {
      throw unanswered(error, over, TIMEOUT_MS);
    }
    return send(ask, waits + 1);
  };

  return {
    exchanges,
    show,
    mask,
    send: (ask) => send(ask),
    async readStream(ask, isEnough, forMs) {
      const ended = AbortSignal.timeout(forMs);
      const over = AbortSignal.any([ending, ended]);
      let text = '';
      try {
        const { exchange, stream } = await open(
          { ...ask, headers: { accept: 'text/event-stream', ...ask.headers } },
          over,
        );
        // A stream destroyed before its end emits an error.
        stream.on('error', () => undefined);
        const decoder = new TextDecoder();
        try {
          for await (const piece of stream) {
            text += decoder.decode(Buffer.from(piece), { stream: true });
            if (isEnough(text) || text.length > STREAM_BYTES) break;
          }
        } catch (error) {
          if (ending.aborted || !ended.aborted) throw error;
        } finally {
          stream.destroy();
        }
        const reading = { ...exchange, text, body: Buffer.from(text), json: undefined };
        await keep(reading);
        return reading;
      } catch (error) {
        throw unanswered(error, ended, forMs);
      }
    },
    async close() {
      await Promise.all([named.close(), others.close()]);
    },
  };
}

function headerTexts(headers: readonly (readonly [string, string | string[] | undefined])[]): Record<string, string> {
  return Object.fromEntries(headers.map(([name, value]) => [name, [value ?? ''].flat().join(', ')]));
}

/** A body as sent: text and bytes unchanged, undefined as nothing, anything else as JSON. */
export function bytesOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The parsed body; undefined when it is not JSON in UTF-8, or has more elements than any valid answer. */
export function jsonIn(body: Buffer): unknown {
  try {
    const value = parseUntrusted(body, { bytes: MAX_BYTES });
    return unwritable(value) === undefined ? value : undefined;
  } catch (error) {
    if (error instanceof UntrustedJsonError) return undefined;
    throw error;
  }
}

/** Bounds the memory that an answer can take. */
function beginning(body: Buffer): string {
  // A character is at most four bytes.
  const bytes = body.subarray(0, 4 * SHOWN_BODY);
  const text = new TextDecoder().decode(bytes, { stream: bytes.length < body.length });
  if (text.includes('\0')) return `(${body.length} bytes that are not text)`;
  if (text.length <= SHOWN_BODY && bytes.length === body.length) return text;
  return `${text.slice(0, SHOWN_BODY).toWellFormed()}… (${body.length} bytes)`;
}
