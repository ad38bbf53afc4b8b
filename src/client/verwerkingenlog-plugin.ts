import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { InvalidParam } from '../lib/problem.ts';
import { isDuration } from '../lib/time.ts';
import {
  consumerTerm,
  entryFromHeaders,
  type ProcessingContext,
  readProcessingHeaders,
} from '../plugins/processing-headers.ts';
import {
  type LogOptions,
  type NieuweVerwerkingsactie,
  type VerwerkingenlogClient,
  VerwerkingenlogError,
  type Verwerkingsactie,
} from './verwerkingenlog-client.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The consumer's processing, from the headers. */
    verwerking: ProcessingContext;
    /** Logs an entry of your own about this call, with the fields of its headers. Await it before answering. @throws {ProcessingNotLoggedError} */
    logVerwerking(
      actie: Omit<NieuweVerwerkingsactie, 'vertrouwelijkheid'> &
        Partial<Pick<NieuweVerwerkingsactie, 'vertrouwelijkheid'>>,
      options?: LogOptions,
    ): Promise<Verwerkingsactie>;
  }
}

export interface VerwerkingsheadersOptions {
  readonly client: VerwerkingenlogClient;
  /** Refuses a call without `OIN` or `VerwerkingId`; default false: a warning names them. */
  readonly required?: boolean;
  /** The proven OIN of the caller; when there is one, the header `OIN` must be the same. */
  readonly callerOin?: (request: FastifyRequest) => string | undefined;
  /** ISO 8601 duration: the shortest term of an entry; the header `Bewaartermijn` can ask for a longer one, up to `P20Y`. Default `P10Y`. */
  readonly ownRetention?: string;
  /** Whether the caller may have the entry about its call logged as confidential; default: nobody may. */
  readonly mayHide?: (request: FastifyRequest) => boolean;
}

/** The headers of a call are refused. Fastify answers with the status unless your error handler overrides it. */
export class ProcessingHeadersError extends Error {
  readonly statusCode: 400 | 403;
  readonly invalidParams: readonly InvalidParam[];

  constructor(statusCode: 400 | 403, message: string, invalidParams: readonly InvalidParam[] = []) {
    super(message);
    this.name = 'ProcessingHeadersError';
    this.statusCode = statusCode;
    this.invalidParams = invalidParams;
  }
}

/** Seconds for the caller to wait when the log names no time. */
const RETRY_AFTER_SECONDS = 5;

/** Without an entry nothing may be delivered: Fastify answers 503 while the log is unavailable, 500 when it refuses the entry. */
export class ProcessingNotLoggedError extends Error {
  readonly statusCode: 500 | 503;
  readonly headers: Readonly<Record<string, string>>;
  override readonly cause: VerwerkingenlogError;

  constructor(cause: VerwerkingenlogError) {
    super(`De verwerking kon niet worden vastgelegd${cause.passing ? '; probeer het later opnieuw' : ''}.`);
    this.name = 'ProcessingNotLoggedError';
    this.cause = cause;
    this.statusCode = cause.passing ? 503 : 500;
    const seconds = cause.retryAfterMs === undefined ? RETRY_AFTER_SECONDS : Math.ceil(cause.retryAfterMs / 1000);
    this.headers = cause.passing ? { 'retry-after': String(seconds) } : {};
  }
}

/** Reads and checks the six headers on every call of its scope. Register it where personal data is delivered. */
export const verwerkingsheaders = fp<VerwerkingsheadersOptions>(
  async (app, { client, required = false, callerOin, ownRetention = 'P10Y', mayHide = () => false }) => {
    if (!isDuration(ownRetention)) throw new TypeError('ownRetention is not an ISO 8601 duration');
    app.decorateRequest('verwerking');
    app.decorateRequest('logVerwerking');
    app.addHook('preHandler', async (request) => {
      const proven = callerOin?.(request);
      const reading = readProcessingHeaders(request.headers, proven === undefined ? [] : [proven]);
      const absent = reading.missing.filter((name) => required && (name === 'OIN' || name === 'VerwerkingId'));
      const refused = [
        ...reading.malformed,
        ...absent.map((name) => ({ name, code: 'required', reason: 'ontbreekt' })),
      ];
      if (refused.length > 0) {
        const message = refused.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
        throw new ProcessingHeadersError(400, message, refused);
      }
      if (reading.otherOin) throw new ProcessingHeadersError(403, 'OIN: is niet de organisatie die aanroept');
      if (reading.missing.length > 0) request.log.warn({ missing: reading.missing }, 'processing headers are missing');
      request.verwerking = reading.context;
      const hides = mayHide(request);
      request.logVerwerking = (actie, options) =>
        client.log(entryOf(actie, reading.context, ownRetention, hides), options).catch((error: unknown) => {
          throw error instanceof VerwerkingenlogError ? new ProcessingNotLoggedError(error) : error;
        });
    });
  },
  { name: 'verwerkingsheaders', fastify: '5.x' },
);

/** The fields of the headers, as far as their sender may set them, overridden by those of the application itself. */
function entryOf(
  actie: Parameters<FastifyRequest['logVerwerking']>[0],
  context: ProcessingContext,
  ownRetention: string,
  mayHide: boolean,
): NieuweVerwerkingsactie {
  const bewaartermijn = consumerTerm(new Date(), context.bewaartermijn, ownRetention);
  const fields = Object.entries(entryFromHeaders({ ...context, bewaartermijn }));
  return {
    ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)),
    ...actie,
    vertrouwelijkheid: actie.vertrouwelijkheid ?? (mayHide ? context.vertrouwelijkheid : undefined) ?? 'normaal',
  };
}
