/** The caller of a request. The package of the client reads the headers without Fastify, so those are in `processing-headers.ts`. */
import type { FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import { OIN } from '../lib/patterns.ts';
import { type FscCode, Problem, type ProblemKind } from '../lib/problem.ts';
import type { ServeOptions } from './contract.ts';
import { refuse } from './faults.ts';
import { headerValues } from './headers.ts';
import { countCall } from './limits.ts';
import { type Caller, TokenError, type TokenErrorReason } from './oauth/token.ts';
import { platformProblems } from './problems.ts';
import { type ProcessingContext, readProcessingHeaders } from './processing-headers.ts';
import type { TokenRequest, TokenVerifier } from './tokens.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller;
    /** Why the token was refused: for the log, never for the answer. */
    tokenRefusal?: TokenErrorReason;
  }
}

/** The authenticated caller. @throws {TypeError} on a route without authentication, which is a bug */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request;
  if (caller === undefined) throw new TypeError('this route has no caller');
  return caller;
}

interface AuthenticateOptions {
  readonly verifier: TokenVerifier;
  /** FSC service name of the mount; absent where FSC tokens are not accepted. */
  readonly service?: string;
  readonly clientCertificateHeader?: string | undefined;
}

export function authenticate(options: AuthenticateOptions): NonNullable<ServeOptions['authenticate']> {
  const { verifier, service } = options;
  return ({ scopes = [] }) => {
    return async (request, reply) => {
      const caller = await verifier.verify(tokenOf(request, options), service).catch((error: unknown) => {
        if (!(error instanceof TokenError)) throw error;
        request.tokenRefusal = error.reason;
        countCall(request, reply);
        throw tokenProblem(error);
      });
      request.caller = caller;
      countCall(request, reply);
      if (!scopes.some((scope) => caller.scopes.has(scope))) throw insufficientScope(scopes);
    };
  };
}

function tokenOf({ raw }: FastifyRequest, { clientCertificateHeader }: AuthenticateOptions): TokenRequest {
  return {
    authorization: headerValues(raw, 'authorization'),
    fscAuthorization: headerValues(raw, 'fsc-authorization'),
    ...(clientCertificateHeader === undefined ? {} : { clientCertificate: headerValues(raw, clientCertificateHeader) }),
  };
}

/** The token has no scope that allows the call (RFC 6750 section 3.1). */
export function insufficientScope(scopes: readonly string[], detail?: string): Problem {
  const challenge = `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`;
  return new Problem(platformProblems.forbidden, {
    detail: detail ?? `Vereist is een van de scopes ${scopes.join(', ')}.`,
    headers: { 'www-authenticate': challenge },
    fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN',
  });
}

const INVALID = { 'www-authenticate': 'Bearer error="invalid_token"' };

interface Refusal {
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fsc: FscCode;
}

const REFUSALS: Readonly<Record<TokenError['code'], Refusal>> = {
  missing: {
    kind: platformProblems.unauthorized,
    detail: 'Het verzoek heeft geen toegangstoken.',
    headers: { 'www-authenticate': 'Bearer' },
    fsc: 'ERROR_CODE_ACCESS_TOKEN_MISSING',
  },
  invalid: {
    kind: platformProblems.unauthorized,
    detail: 'Het toegangstoken is niet geldig.',
    headers: INVALID,
    fsc: 'ERROR_CODE_ACCESS_TOKEN_INVALID',
  },
  expired: {
    kind: platformProblems.unauthorized,
    detail: 'Het toegangstoken is verlopen.',
    headers: INVALID,
    fsc: 'ERROR_CODE_ACCESS_TOKEN_EXPIRED',
  },
  'wrong-group': {
    kind: platformProblems.forbidden,
    detail: 'Het toegangstoken is van een andere groep.',
    fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN',
  },
  'wrong-service': {
    kind: platformProblems.notFound,
    detail: 'Het toegangstoken is niet voor deze dienst.',
    fsc: 'ERROR_CODE_SERVICE_NOT_FOUND',
  },
  unavailable: {
    kind: platformProblems.unavailable,
    detail: 'De sleutels van de uitgever van toegangstokens zijn nu niet te krijgen.',
    headers: { 'retry-after': '5' },
    fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
  },
};

function tokenProblem(cause: TokenError): Problem {
  const { kind, ...options } = REFUSALS[cause.code];
  return new Problem(kind, { ...options, cause });
}

const METRIC = 'koppelvlak_processing_headers_missing_total';

interface ConsumerReaderOptions {
  /** `required` refuses a call without `OIN` or `VerwerkingId`. */
  readonly mode: 'optional' | 'required';
  readonly metrics: Registry;
}

/**
 * Reads the six processing headers on authenticated routes: malformed ones, and missing ones with `required`, give a 400 that names them all; an
 * unproven `OIN` a 403. `vertrouwelijk` has effect only with a token that may log confidential actions: no other caller can hide its request.
 */
export function createConsumerReader(
  options: ConsumerReaderOptions,
): (request: FastifyRequest, signerOin?: string) => ProcessingContext {
  const missingHeaders = missingCounter(options.metrics);
  return (request, signerOin) => {
    const caller = callerOf(request);
    const reading = readProcessingHeaders(request.headers, provenOins(caller, signerOin));
    refuse([
      ...reading.malformed,
      ...(options.mode === 'required'
        ? reading.missing.filter((name) => name === 'OIN' || name === 'VerwerkingId')
        : []
      ).map((name) => ({ name, code: 'required', reason: 'ontbreekt' })),
    ]);
    if (reading.otherOin) {
      throw new Problem(platformProblems.forbidden, {
        detail: 'De kop `OIN` noemt een andere organisatie dan het toegangstoken of de handtekening.',
        fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN',
      });
    }
    for (const header of reading.missing) missingHeaders.inc({ header });
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

/** The organisations that the header may name: that of the token, the signer, and a delegate in the token. */
function provenOins(caller: Caller, signerOin: string | undefined): string[] {
  return [callerOin(caller), signerOin, caller.actor].filter((oin) => oin !== undefined && OIN.test(oin)).map(String);
}

/** The organisation that a token names: the peer of an FSC token, or a subject or client that is an OIN itself. */
export function callerOin({ oin, subject, clientId }: Caller): string | undefined {
  return oin ?? [subject, clientId].find((name) => name !== undefined && OIN.test(name));
}

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
