import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { isDuration, longerDuration } from '../kernel/duration.ts';
import type { InvalidParam } from '../kernel/problem.ts';
import {
  entryFromHeaders,
  type ProcessingContext,
  type ProcessingHeader,
  readProcessingHeaders,
} from '../kernel/processing-headers.ts';
import type {
  LogOptions,
  NieuweVerwerkingsactie,
  VerwerkingenlogClient,
  Verwerkingsactie,
} from './verwerkingenlog-client.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the consumer said about its processing. */
    verwerking: ProcessingContext;
    /**
     * Keeps the own entry about this call, with what the headers said copied into it. Await it before answering.
     * @throws {VerwerkingenlogError}
     */
    logVerwerking(
      actie: Omit<NieuweVerwerkingsactie, 'vertrouwelijkheid'> &
        Partial<Pick<NieuweVerwerkingsactie, 'vertrouwelijkheid'>>,
      options?: LogOptions,
    ): Promise<Verwerkingsactie>;
  }
}

export interface VerwerkingsheadersOptions {
  readonly client: VerwerkingenlogClient;
  /** Refuses a call without `OIN` or `VerwerkingId`; default false: they are named in a warning. */
  readonly required?: boolean;
  /** The organisation that the caller proved to be; when it is known, the header `OIN` must name the same. */
  readonly callerOin?: (request: FastifyRequest) => string | undefined;
  /** ISO 8601 duration: entries are kept at least that long, whatever the header `Bewaartermijn` says. Default: the header decides. */
  readonly ownRetention?: string;
  /** Whether the caller may have the entry about its call logged as confidential; default: everyone may. */
  readonly mayHide?: (request: FastifyRequest) => boolean;
  /** Called for every call that misses headers, to count them. */
  readonly onMissing?: (missing: readonly ProcessingHeader[], request: FastifyRequest) => void;
}

/** The headers of a call cannot be accepted; Fastify answers with the status, your error handler with what it makes of it. */
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

/**
 * Reads and checks the six headers on every call of the scope that it is registered in (register it where personal data is
 * delivered), and gives each request `verwerking` and `logVerwerking`.
 */
export const verwerkingsheaders = fp<VerwerkingsheadersOptions>(
  async (app, { client, required = false, callerOin, ownRetention, mayHide = () => true, onMissing }) => {
    if (ownRetention !== undefined && !isDuration(ownRetention))
      throw new TypeError('ownRetention is not an ISO 8601 duration');
    app.decorateRequest('verwerking');
    app.decorateRequest('logVerwerking');
    app.addHook('preHandler', async (request) => {
      const proven = callerOin?.(request);
      const reading = readProcessingHeaders(request.headers, proven === undefined ? [] : [proven]);
      const refused = [
        ...reading.malformed,
        ...(required ? reading.missing.filter((name) => name === 'OIN' || name === 'VerwerkingId') : []).map(
          (name) => ({
            name,
            code: 'required',
            reason: 'ontbreekt',
          }),
        ),
      ];
      if (refused.length > 0) {
        const message = refused.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
        throw new ProcessingHeadersError(400, message, refused);
      }
      if (reading.otherOin) throw new ProcessingHeadersError(403, 'OIN: is niet de organisatie die aanroept');
      if (reading.missing.length > 0) {
        request.log.warn({ missing: reading.missing }, 'processing headers are missing');
        onMissing?.(reading.missing, request);
      }
      request.verwerking = reading.context;
      const consumer = judged(reading.context, { ownRetention, mayHide: mayHide(request) });
      request.logVerwerking = (actie, options) => client.log(withContext(consumer, actie), options);
    });
  },
  { name: 'verwerkingsheaders', fastify: '5.x' },
);

/** What of the headers counts for an entry about their sender. */
function judged(
  context: ProcessingContext,
  { ownRetention, mayHide }: { readonly ownRetention: string | undefined; readonly mayHide: boolean },
): ProcessingContext {
  const { vertrouwelijkheid, bewaartermijn } = context;
  return {
    ...context,
    ...(vertrouwelijkheid === undefined || mayHide ? {} : { vertrouwelijkheid: 'normaal' }),
    ...(ownRetention === undefined
      ? {}
      : { bewaartermijn: longerDuration(new Date(), ownRetention, bewaartermijn ?? ownRetention) }),
  };
}

/** What the headers said goes into the entry; what the application itself says wins. */
function withContext(
  context: ProcessingContext,
  actie: Parameters<FastifyRequest['logVerwerking']>[0],
): NieuweVerwerkingsactie {
  return {
    ...Object.fromEntries(Object.entries(entryFromHeaders(context)).filter(([, value]) => value !== undefined)),
    ...actie,
    vertrouwelijkheid: actie.vertrouwelijkheid ?? context.vertrouwelijkheid ?? 'normaal',
  };
}
