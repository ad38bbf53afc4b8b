import { randomUUID } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';
import { retryAfterMs } from '../kernel/outbound/outbound-client.ts';
import type { ProcessingContext } from '../kernel/processing-log.ts';
import { VerwerkingenlogError } from './verwerkingenlog-error.ts';
import { withRetries } from './verwerkingenlog-retry.ts';
import { isVerwerkingsactie, type NieuweVerwerkingsactie, type Verwerkingsactie } from './verwerkingenlog-types.ts';

export interface VerwerkingenlogClientOptions {
  /** Address of the log, such as `https://logging.example/verwerkingenlog/v1`. */
  readonly url: string;
  /** An access token, or what gives one; asked before every try. */
  readonly token: string | (() => string | Promise<string>);
  /** Milliseconds that one try may take; default 5000. */
  readonly timeoutMs?: number;
  /** Tries in all, the first one included; default 5. */
  readonly attempts?: number;
  /** Connections at the same time; default 32. */
  readonly connections?: number;
  /** Whose connections to use instead of own ones (a proxy, client certificates); the client does not close it. */
  readonly dispatcher?: Dispatcher;
}

export interface LogOptions {
  /** Names the action for the log: the same key never gives a second entry. Default: one of its own for every call. */
  readonly idempotencyKey?: string;
  /** Gives up when it fires. */
  readonly signal?: AbortSignal;
}

export interface VerwerkingenlogClient {
  /**
   * Keeps an action. Resolves when the log has it on disk; until then nothing about the person should be shown or sent on. Tries
   * again when the log cannot be reached or is overloaded, without ever leaving two entries.
   * @throws {VerwerkingenlogError}
   */
  log(actie: NieuweVerwerkingsactie, options?: LogOptions): Promise<Verwerkingsactie>;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** A client of one log; make one and use it everywhere. */
export function createVerwerkingenlogClient(options: VerwerkingenlogClientOptions): VerwerkingenlogClient {
  const { url, token, timeoutMs = 5000, attempts = 5, connections = 32 } = options;
  const own = options.dispatcher === undefined ? new Agent({ connections }) : undefined;
  const dispatcher = options.dispatcher ?? own;
  const address = `${url.replace(/\/+$/, '')}/verwerkingsacties`;

  async function post(body: string, idempotencyKey: string, signal: AbortSignal): Promise<Verwerkingsactie> {
    const authorization = `Bearer ${typeof token === 'string' ? token : await token()}`;
    const answer = await request(address, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        accept: 'application/json, application/problem+json',
        'idempotency-key': idempotencyKey,
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    }).catch((cause: unknown) => {
      throw new VerwerkingenlogError('the processing log cannot be reached', { cause });
    });
    return readAnswer(answer);
  }

  return {
    log: (actie, { idempotencyKey = randomUUID(), signal = new AbortController().signal } = {}) => {
      // Written down once: a replay must be the same to the byte.
      const body = JSON.stringify(actie);
      return withRetries(() => post(body, idempotencyKey, signal), { attempts, signal });
    },
    close: async () => {
      await own?.close();
    },
  };
}

async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Verwerkingsactie> {
  const answer: unknown = await body.json().catch((cause: unknown) => {
    // Cut off, or not JSON: whether the entry was kept is unknown, so it counts as passing.
    throw new VerwerkingenlogError('the answer of the processing log cannot be read', { cause });
  });
  if (statusCode === 201 && isVerwerkingsactie(answer)) return answer;
  const detail = typeof answer === 'object' && answer !== null && 'detail' in answer ? String(answer.detail) : '';
  throw new VerwerkingenlogError(`the processing log answered ${statusCode}: ${detail}`, {
    status: statusCode,
    problem: answer,
    retryAfterMs: retryAfterMs([headers['retry-after']].flat()[0], new Date()),
  });
}

/** The six headers for a call to an API that delivers personal data: what is known of the own processing. */
export function processingHeaders(context: ProcessingContext): Record<string, string> {
  const headers = {
    OIN: context.oin,
    VerwerkingsactiviteitId: context.verwerkingsactiviteitId,
    VerwerkingsactiviteitUrl: context.verwerkingsactiviteitUrl,
    VerwerkingId: context.verwerkingId,
    Vertrouwelijkheid: context.vertrouwelijkheid,
    Bewaartermijn: context.bewaartermijn,
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
