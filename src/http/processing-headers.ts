import type { FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { Caller } from '../kernel/oauth/caller.ts';
import { Problem } from '../kernel/problem.ts';
import { type ProcessingContext, readProcessingHeaders } from '../kernel/processing-headers.ts';
import { callerOf } from './auth.ts';
import { platformProblems } from './problems.ts';

const OIN = /^\d{20}$/;
const METRIC = 'processing_headers_missing_total';

export interface ProcessingHeaderOptions {
  /** `required` refuses a call without `OIN` or `VerwerkingId`. */
  readonly mode: 'optional' | 'required';
  readonly metrics: Registry;
  /** Counts the missing ones of one mount. */
  readonly counter?: Counter<'header'>;
}

/**
 * Makes the reader of the six processing headers. Malformed ones, and with `required` missing ones, become a 400 that names them all;
 * an `OIN` that is none of those proven a 403; missing ones are counted and logged. `vertrouwelijk` counts only with a token that may log
 * confidential actions: nobody else hides that he asked. Call it on an authenticated route.
 */
export function processingHeaders(
  options: ProcessingHeaderOptions,
): (request: FastifyRequest, signerOin?: string) => ProcessingContext {
  const missingHeaders = missingCounter(options.metrics);
  return (request, signerOin) => {
    const caller = callerOf(request);
    const reading = readProcessingHeaders(request.headers, provenOins(caller, signerOin));
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
        detail: 'De kop `OIN` noemt een andere organisatie dan het toegangstoken of de handtekening.',
        fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN',
      });
    }
    for (const header of reading.missing) {
      missingHeaders.inc({ header });
      options.counter?.inc({ header });
    }
    if (reading.missing.length > 0) {
      request.log.warn({ missing: reading.missing, caller: caller.subject }, 'processing headers are missing');
    }
    const { context } = reading;
    const mayHide = caller.scopes.has('create:confidential');
    return context.vertrouwelijkheid === 'vertrouwelijk' && !mayHide
      ? { ...context, vertrouwelijkheid: 'normaal' }
      : context;
  };
}

/** Who the token is for, who signed, and a delegate that the token names: one of these the header must be. */
function provenOins(caller: Caller, signerOin: string | undefined): string[] {
  return [callerOin(caller), signerOin, caller.actor].filter((oin) => oin !== undefined && OIN.test(oin)).map(String);
}

/** The organisation that a token names: the peer of an FSC token, or a subject or client that is an OIN itself. */
export function callerOin({ oin, subject, clientId }: Caller): string | undefined {
  return oin ?? [subject, clientId].find((name) => name !== undefined && OIN.test(name));
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
