import type { FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { Caller } from '../kernel/oauth/caller.ts';
import { Problem } from '../kernel/problem.ts';
import { type ProcessingContext, readProcessingHeaders } from '../kernel/processing-headers.ts';
import { callerOf } from './auth.ts';
import { platformProblems } from './problems.ts';

const METRIC = 'processing_headers_missing_total';

export interface ProcessingHeaderOptions {
  /** `required` refuses a call without `OIN` or `VerwerkingId`. */
  readonly mode: 'optional' | 'required';
  readonly metrics: Registry;
}

/**
 * Makes the reader of the six processing headers. Malformed ones, and with `required` missing ones, become a 400 that names them all;
 * an `OIN` that is not that of the token a 403; missing ones are counted and logged. Call it on an authenticated route.
 */
export function processingHeaders(options: ProcessingHeaderOptions): (request: FastifyRequest) => ProcessingContext {
  const missingHeaders = missingCounter(options.metrics);
  return (request) => {
    const caller = callerOf(request);
    const reading = readProcessingHeaders(request.headers, callerOin(caller));
    const refused = [
      ...reading.malformed,
      ...(options.mode === 'required'
        ? reading.missing.filter((name) => name === 'OIN' || name === 'VerwerkingId')
        : []
      ).map((name) => ({ name, code: 'required', reason: 'ontbreekt' })),
    ];
    if (refused.length > 0) {
      const detail = refused.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
      throw new Problem(platformProblems.invalidRequest, { detail, invalidParams: refused });
    }
    if (reading.otherOin) {
      throw new Problem(platformProblems.forbidden, {
        detail: 'De kop `OIN` noemt een andere organisatie dan het toegangstoken.',
      });
    }
    for (const header of reading.missing) missingHeaders.inc({ header });
    if (reading.missing.length > 0) {
      request.log.warn({ missing: reading.missing, caller: caller.subject }, 'processing headers are missing');
    }
    return reading.context;
  };
}

/** The organisation that a token names: the peer of an FSC token, or a subject or client that is an OIN itself. */
export function callerOin({ oin, subject, clientId }: Caller): string | undefined {
  return oin ?? [subject, clientId].find((name) => name !== undefined && /^\d{20}$/.test(name));
}

/** One counter per process, whichever mount asks first. */
function missingCounter(metrics: Registry): Counter<'header'> {
  const known = metrics.getSingleMetric(METRIC);
  if (known instanceof Counter) return known;
  return new Counter({
    name: METRIC,
    help: 'Processing headers that a consumer should have sent and did not',
    labelNames: ['header'],
    registers: [metrics],
  });
}
