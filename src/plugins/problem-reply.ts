/** The only place that writes an error body: problem documents (RFC 9457) and, for area A, FSC errors. */

import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  DatabaseUnavailableError,
  isDatabaseBusy,
  isDatabaseUnavailable,
  isOutcomeUnknown,
} from '../database/database-unavailable.ts';
import { Problem, type ProblemKind } from '../lib/problem.ts';
import { traceIds } from '../lib/trace-context.ts';
import { SECURITY_HEADERS, traceOf } from './headers.ts';
import { platformProblems as kinds } from './problems.ts';

export interface ProblemStyle {
  /** Maps a problem to its equivalent in the area's contract. */
  readonly translate?: (problem: Problem) => Problem;
  /** The body, when it is not a plain problem document. */
  readonly body?: (problem: Problem, plain: ProblemBody) => object;
  /** The whole answer, where the area's protocol has errors of its own in another media type. */
  readonly answer?: (
    request: FastifyRequest,
    plain: ProblemBody,
  ) => { readonly type: string; readonly body: string | Buffer };
  /** Dutch: advice for a client whose request may have been carried out despite an error. */
  readonly mayBeDone?: string;
}

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly instance: string;
  readonly invalidParams?: readonly { name: string; code: string; reason: string }[];
}

const RETRY_SOON = { 'retry-after': '5' };

/** The handler did not begin its answer in time; it continues. */
export class LateAnswerError extends Error {
  constructor() {
    super('the handler did not answer in time');
    this.name = 'LateAnswerError';
  }
}

const MAY_BE_DONE = 'Het kan zijn dat het verzoek toch is uitgevoerd. Kijk dat na voordat u het opnieuw stuurt.';
const READING_METHODS = ['GET', 'HEAD', 'OPTIONS'];

function mayBeDone(error: unknown, { method }: FastifyRequest): boolean {
  return !READING_METHODS.includes(method) && (error instanceof LateAnswerError || isOutcomeUnknown(error));
}

/** Headers of the original body: an answer can fail after they were set, and a problem document must not carry its signature. */
const BODY_HEADERS = [
  'content-encoding',
  'content-length',
  'digest',
  'etag',
  'last-modified',
  'link',
  'location',
  'nlgov-adr-payload-sig',
  'vary',
];

const FASTIFY_ERRORS: Readonly<Record<string, readonly [kind: ProblemKind, detail?: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [kinds.unsupportedMediaType],
  FST_ERR_CTP_BODY_TOO_LARGE: [kinds.bodyTooLarge],
  FST_ERR_CTP_EMPTY_JSON_BODY: [kinds.invalidRequest, 'De inhoud is leeg.'],
  FST_ERR_CTP_INVALID_JSON_BODY: [kinds.invalidRequest, 'De inhoud is geen geldige JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    kinds.invalidRequest,
    'De lengte van de inhoud klopt niet met `Content-Length`.',
  ],
  FST_ERR_BAD_URL: [kinds.invalidRequest, 'Het adres is niet goed gecodeerd.'],
  FST_ERR_MAX_PARAM_LENGTH: [kinds.notFound],
};

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // Load that was shed before any work was done; the metrics count it.
  if (error instanceof DatabaseUnavailableError && error.code === 'pool-busy')
    return new Problem(kinds.unavailable, { headers: RETRY_SOON });
  if (isDatabaseUnavailable(error) || isDatabaseBusy(error) || error instanceof LateAnswerError)
    return new Problem(kinds.unavailable, { headers: RETRY_SOON, cause: error });
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const [kind, detail] = FASTIFY_ERRORS[error.code] ?? [];
    if (kind !== undefined) return new Problem(kind, { detail, cause: error });
  }
  if (error instanceof SyntaxError && 'statusCode' in error && error.statusCode === 400) {
    return new Problem(kinds.invalidRequest, { detail: 'De inhoud is geen geldige JSON.', cause: error });
  }
  return new Problem(kinds.internal, { cause: error });
}

/** Shed load has no cause, and logging it must be cheap: one line without a stack. */
function logFailure(problem: Problem, request: FastifyRequest): void {
  const ids = traceIds(traceOf(request));
  if (problem.cause === undefined) request.log.warn(ids, problem.message);
  else request.log.error({ err: problem.cause, ...ids }, problem.message);
}

export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  style: ProblemStyle = {},
): FastifyReply {
  const found = problemOf(error, request);
  const problem = style.translate?.(found) ?? found;
  const { kind } = problem;
  if (kind.status === kinds.bodyTooLarge.status) drainBody(request, reply);
  if (kind.status >= 500) logFailure(problem, request);
  // An internal error reveals nothing but its id.
  const explanation = kind === kinds.internal ? undefined : kind.explanation;
  const unsure = mayBeDone(error, request) ? (style.mayBeDone ?? MAY_BE_DONE) : undefined;
  const detail = problem.detail ?? unsure ?? explanation;
  const plain: ProblemBody = {
    type: `${request.server.publicBaseUrl()}/problems/${kind.slug}`,
    title: kind.title,
    status: kind.status,
    ...(detail === undefined ? {} : { detail }),
    instance: `urn:uuid:${request.id}`,
    ...(problem.invalidParams === undefined ? {} : { invalidParams: problem.invalidParams }),
  };
  for (const name of BODY_HEADERS) if (reply.hasHeader(name)) reply.removeHeader(name);
  reply.code(kind.status).headers({ 'cache-control': 'no-store', ...problem.headers });
  const own = style.answer?.(request, plain);
  if (own !== undefined) return reply.type(own.type).send(own.body);
  return reply
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(style.body?.(problem, plain) ?? plain));
}

/** Many clients send the whole body before they read: closing the connection would lose them the answer. */
function drainBody(request: FastifyRequest, reply: FastifyReply): void {
  if (reply.hasHeader('connection')) reply.removeHeader('connection');
  request.raw.resume();
}

/** @returns answers a request without a route, before its body is read: unknown path 404, known path with another method 405 */
export function handleProblems(
  app: FastifyInstance,
  style: ProblemStyle = {},
): (request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  function refuseUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const allowed = app.allowedMethods(request.url);
    if (request.method === 'OPTIONS' && allowed?.includes('OPTIONS')) {
      return reply.code(204).header('allow', allowed).send();
    }
    // The method is allowed, but the handler found nothing at this address.
    const isUnknown = allowed === undefined || allowed.split(', ').includes(request.method);
    const problem = isUnknown
      ? new Problem(kinds.notFound)
      : new Problem(kinds.methodNotAllowed, { headers: { allow: allowed } });
    return sendProblem(problem, request, reply, style);
  }
  app.setNotFoundHandler(refuseUnknown);
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, style));
  return refuseUnknown;
}

/** An incomplete body is the sender's fault, although it surfaces as a connection error. */
function problemOf(error: unknown, request: FastifyRequest): Problem {
  if (error !== request.raw.errored) return toProblem(error);
  return new Problem(kinds.invalidRequest, { detail: 'Het verzoek brak af.', cause: error });
}

const NO_REQUEST: ProblemKind = {
  ...kinds.invalidRequest,
  explanation: 'Het bericht is geen volledig HTTP-verzoek.',
};
const REQUEST_TIMEOUT: ProblemKind = { ...NO_REQUEST, status: 408 };

/** Also answers malformed HTTP with a problem document; there is only a socket, no Fastify request. */
export function refuseUnreadable(publicBaseUrl: () => string) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const kind = kindOf(error.code);
    const body = JSON.stringify({
      type: `${publicBaseUrl()}/problems/${kind.slug}`,
      title: kind.title,
      status: kind.status,
      detail: kind.explanation,
      instance: `urn:uuid:${randomUUID()}`,
    });
    const headers = {
      ...SECURITY_HEADERS,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${kind.status} \r\n${head.join('')}\r\n${body}`);
  };
}

function kindOf(code: string | undefined): ProblemKind {
  if (code === 'HPE_HEADER_OVERFLOW') return kinds.headersTooLarge;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return REQUEST_TIMEOUT;
  return NO_REQUEST;
}
