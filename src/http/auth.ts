import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../kernel/oauth/caller.ts';
import { TokenError, type TokenErrorReason } from '../kernel/oauth/token-error.ts';
import type { TokenRequest, TokenVerifier } from '../kernel/oauth/token-verifier.ts';
import { Problem } from '../kernel/problem.ts';
import type { ServeOptions } from './contract.ts';
import { countAddress, countSubject } from './limits.ts';
import { platformProblems } from './problems.ts';
import { headerValues } from './request-head.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who `authenticate` has let in; absent on a public route and before the token was verified. */
    caller?: Caller;
    /** Why the token was refused, one of a closed list: for the log, never for the answer. */
    tokenRefusal?: TokenErrorReason;
  }
}

/**
 * The caller that `authenticate` has let in.
 * @throws {TypeError} on a route that does not authenticate: a mistake of ours
 */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request;
  if (caller === undefined) throw new TypeError('this route has no caller');
  return caller;
}

export interface AuthenticateOptions {
  readonly verifier: TokenVerifier;
  /** FSC service name of the mount; absent where FSC tokens are not accepted. */
  readonly service?: string;
  /** Header with the client certificate (RFC 9440), lower case. */
  readonly clientCertificateHeader?: string | undefined;
}

/** Lets in who has a verified token with one of the operation's scopes; runs before the body is read. */
export function authenticate(options: AuthenticateOptions): NonNullable<ServeOptions['authenticate']> {
  const { verifier, service } = options;
  return ({ scopes = [] }) => {
    const admit = (request: FastifyRequest, reply: FastifyReply, caller: Caller): void => {
      request.caller = caller;
      countSubject(request, reply, `${caller.kind} ${caller.subject}`);
      if (!scopes.some((scope) => caller.scopes.has(scope))) throw insufficientScope(scopes);
    };
    const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown): never => {
      if (!(error instanceof TokenError)) throw error;
      request.tokenRefusal = error.reason;
      countAddress(request, reply);
      throw tokenProblem(error);
    };
    return (request, reply) => {
      const token = tokenOf(request, options);
      let remembered: Caller | undefined;
      try {
        // Nearly every token was seen before: then nothing waits.
        remembered = verifier.recall(token, service);
      } catch (error) {
        return refuse(request, reply, error);
      }
      if (remembered === undefined) {
        return verifier.verify(token, service).then(
          (caller) => admit(request, reply, caller),
          (error: unknown) => refuse(request, reply, error),
        );
      }
      admit(request, reply, remembered);
      return undefined;
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

/** A token has no scope that allows the call (RFC 6750 section 3.1). */
export function insufficientScope(scopes: readonly string[], detail?: string): Problem {
  const challenge = `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`;
  return new Problem(platformProblems.forbidden, {
    detail: detail ?? `Nodig is een van de scopes ${scopes.join(', ')}.`,
    headers: { 'www-authenticate': challenge },
    fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN',
  });
}

function tokenProblem(error: TokenError): Problem {
  const invalid = { 'www-authenticate': 'Bearer error="invalid_token"' };
  const cause = error;
  switch (error.code) {
    case 'missing':
      return new Problem(platformProblems.unauthorized, {
        detail: 'Het verzoek heeft geen toegangstoken.',
        headers: { 'www-authenticate': 'Bearer' },
        fsc: 'ERROR_CODE_ACCESS_TOKEN_MISSING',
        cause,
      });
    case 'invalid':
      return new Problem(platformProblems.unauthorized, {
        detail: 'Het toegangstoken is niet geldig.',
        headers: invalid,
        fsc: 'ERROR_CODE_ACCESS_TOKEN_INVALID',
        cause,
      });
    case 'expired':
      return new Problem(platformProblems.unauthorized, {
        detail: 'Het toegangstoken is verlopen.',
        headers: invalid,
        fsc: 'ERROR_CODE_ACCESS_TOKEN_EXPIRED',
        cause,
      });
    case 'wrong-group':
      return new Problem(platformProblems.forbidden, {
        detail: 'Het toegangstoken is van een andere groep.',
        fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN',
        cause,
      });
    case 'wrong-service':
      return new Problem(platformProblems.notFound, {
        detail: 'Het toegangstoken is niet voor deze dienst.',
        fsc: 'ERROR_CODE_SERVICE_NOT_FOUND',
        cause,
      });
    case 'unavailable':
      return new Problem(platformProblems.unavailable, {
        detail: 'De sleutels van de uitgever van toegangstokens zijn nu niet te krijgen.',
        headers: { 'retry-after': '5' },
        fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
        cause,
      });
  }
}
