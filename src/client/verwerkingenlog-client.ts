import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import type { components } from '../contracts/verwerkingenlog.ts';
import { isRecord } from '../lib/json/json-value.ts';
import { JsonCounter, parseCounted } from '../lib/json/parse-untrusted.ts';
import {
  type ClientCredentials,
  clientCredentialsToken,
  TokenFetchError,
  type TokenWish,
} from '../lib/outbound/client-credentials.ts';
import { readBody } from '../lib/outbound/guarded-fetch.ts';
import { backoffMs, retryAfterMs } from '../lib/time.ts';
import type { ProcessingContext } from '../plugins/processing-headers.ts';

export interface VerwerkingenlogClientOptions {
  /** Address of the log, such as `https://logging.example/verwerkingenlog/v1`. */
  readonly url: string;
  /** A token, or a function that is called before every attempt, and once more with a token that the log refused (401). */
  readonly token: string | ((wish?: TokenWish) => string | Promise<string>);
  /** Milliseconds that one attempt may take; default 5000. */
  readonly timeoutMs?: number;
  /** Attempts in all; default 5. */
  readonly attempts?: number;
  /** Used instead of connections of its own, for a proxy or client certificates; the client does not close it. */
  readonly dispatcher?: Dispatcher;
}

export interface LogOptions {
  /** The same key never makes a second entry. Default: a new key for every call. */
  readonly idempotencyKey?: string;
  /** Gives up when it fires. */
  readonly signal?: AbortSignal;
}

export interface VerwerkingenlogClient {
  /**
   * Resolves when the log has the action on disk; until then, do not show or send anything about the person. It retries while the log is unavailable
   * or overloaded, and never stores two entries.
   * @throws {VerwerkingenlogError}
   */
  log(actie: NieuweVerwerkingsactie, options?: LogOptions): Promise<Verwerkingsactie>;
  close(): Promise<void>;
}

const CONNECTIONS = 32;

/** A client of one log; make one and use it everywhere. */
export function createVerwerkingenlogClient(options: VerwerkingenlogClientOptions): VerwerkingenlogClient {
  const { url, token, timeoutMs = 5000, attempts = 5 } = options;
  const dispatcher = options.dispatcher ?? new Agent({ connections: CONNECTIONS });
  const address = `${url.replace(/(?<!\/)\/+$/, '')}/verwerkingsacties`;
  const tokenFor = async (wish?: TokenWish): Promise<string> => (typeof token === 'string' ? token : await token(wish));

  async function send(body: string, idempotencyKey: string, signal: AbortSignal): Promise<Verwerkingsactie> {
    const post = async (bearer: string): Promise<Verwerkingsactie> => {
      const answer = await request(address, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          accept: 'application/json, application/problem+json',
          'idempotency-key': idempotencyKey,
        },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        dispatcher,
      }).catch((cause: unknown) => {
        throw new VerwerkingenlogError('the processing log cannot be reached', { cause });
      });
      return readAnswer(answer);
    };
    const refused = await tokenFor();
    return post(refused).catch(async (error: unknown) => {
      if (!(error instanceof VerwerkingenlogError) || error.status !== 401) throw error;
      const bearer = await tokenFor({ refused });
      if (bearer === refused) throw error;
      return post(bearer);
    });
  }

  return {
    log: (actie, { idempotencyKey = randomUUID(), signal = new AbortController().signal } = {}) => {
      // Serialised once: a repeat must be identical to the byte.
      const body = JSON.stringify(actie);
      return withRetries(() => send(body, idempotencyKey, signal), attempts, signal);
    },
    close: async () => {
      if (options.dispatcher === undefined) await dispatcher.close();
    },
  };
}

/** Four times the largest action that a log takes. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Verwerkingsactie> {
  const answer = await readBody(body, undefined, MAX_ANSWER_BYTES, new JsonCounter({ bytes: MAX_ANSWER_BYTES }))
    .then(parseCounted)
    .catch((cause: unknown) => {
      // Cut off, or not JSON: whether the entry was stored is unknown, so this counts as temporary.
      throw new VerwerkingenlogError('the answer of the processing log cannot be read', { cause });
    });
  if (statusCode === 201 && isVerwerkingsactie(answer)) return answer;
  const detail = isRecord(answer) && 'detail' in answer ? String(answer.detail) : '';
  throw new VerwerkingenlogError(`the processing log answered ${statusCode}: ${detail}`, {
    status: statusCode,
    problem: answer,
    retryAfterMs: retryAfterMs([headers['retry-after']].flat()[0], new Date()),
  });
}

/** The six headers for a call to an API that delivers personal data; members that are absent give no header. */
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

/** The log did not store an action: it refused the action, or was unavailable for too long. */
export class VerwerkingenlogError extends Error {
  /** HTTP status of the last answer; undefined when there was none. */
  readonly status: number | undefined;
  readonly problem: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: {
      status?: number | undefined;
      problem?: unknown;
      retryAfterMs?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'VerwerkingenlogError';
    this.status = options.status;
    this.problem = options.problem;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Whether the same request may succeed later: there was no answer, too many requests, or an error of the server. */
  get passing(): boolean {
    return this.status === undefined || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const BACKOFF = { firstMs: 100, maxMs: 10_000 };
const MAX_RETRY_AFTER_MS = 60_000;

/** Waits longer each time, and never less than the log asks for: more than a minute ends it. @throws {VerwerkingenlogError} of the last attempt */
async function withRetries<T>(work: () => Promise<T>, attempts: number, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof VerwerkingenlogError) || !error.passing || attempt >= attempts || signal.aborted)
        throw error;
      if (error.retryAfterMs !== undefined && error.retryAfterMs > MAX_RETRY_AFTER_MS) throw error;
      await sleep(backoffMs(BACKOFF, attempt, error.retryAfterMs), undefined, { signal }).catch(() => {
        throw new VerwerkingenlogError('the caller gave up', { cause: signal.reason });
      });
    }
  }
}

export type { ClientCredentials, TokenWish };

/** Tokens by client credentials (RFC 6749 section 4.4), reused while valid. Simultaneous calls share one fetch, refused ones its replacement. */
export function clientCredentials(credentials: ClientCredentials): (wish?: TokenWish) => Promise<string> {
  const token = clientCredentialsToken(credentials);
  return (wish) =>
    token(wish).catch((error: unknown) => {
      if (!(error instanceof TokenFetchError)) throw error;
      const { message, status, answer: problem, cause } = error;
      throw new VerwerkingenlogError(message, { status, problem, cause });
    });
}

type Schemas = components['schemas'];
/** Members that the log itself sets; in a body they are ignored. */
type GivenByLog = 'url' | 'actieId' | 'tijdstipRegistratie' | 'verwerktObjectId';

/** A processed person; `soortObjectId` is the kind of identification, such as `BSN`. */
export interface VerwerktObject extends Omit<Schemas['VerwerktObjectInvoer'], GivenByLog> {
  readonly objecttype: 'persoon';
}

/**
 * An action to be logged. `verwerkingId` relates the actions of one processing; `bewaartermijn` is an ISO 8601 duration such as `P10Y`; `uitvoerder`
 * is the OIN of the organisation that performed it; `tijdstip` is RFC 3339 with an offset, and returned as given.
 */
export interface NieuweVerwerkingsactie extends Omit<Schemas['VerwerkingsactieInvoer'], GivenByLog> {
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk';
  readonly verwerkteObjecten: readonly VerwerktObject[];
}

export type Verwerkingsactie = Schemas['Verwerkingsactie'];

/** Whether an answer is an action; the log's contract covers the rest. */
function isVerwerkingsactie(value: unknown): value is Verwerkingsactie {
  return isRecord(value) && typeof value.actieId === 'string' && typeof value.url === 'string';
}
