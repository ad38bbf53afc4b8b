/** `POST /traces`: lines of LDV over OTLP/HTTP, and the errors of that protocol. @see opentelemetry-proto 1.11, docs/specification.md */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/ldv.ts';
import { Problem } from '../../lib/problem.ts';
import { createSemaphore } from '../../lib/scheduling.ts';
import { callerOf, callerOin } from '../../plugins/auth.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import type { Contract, ServeOptions } from '../../plugins/contract.ts';
import { clientKey, traceOf } from '../../plugins/headers.ts';
import type { ProblemStyle } from '../../plugins/problem-reply.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { acceptOtlpBodies, formOf, readOtlpBody } from './body.ts';
import type { Intake } from './intake.ts';
import type { LineSender } from './lines.ts';
import { decodeRequest, encodeResponse, encodeStatus, MEDIA_TYPES, TooManySpansError } from './otlp.ts';
import { OtlpError, type Span } from './span.ts';

interface TracesNeeds {
  readonly contract: Contract<operations>;
  readonly access: NonNullable<ServeOptions['authenticate']>;
  readonly intake: Intake;
}

const RETRY = { 'retry-after': '5' };
/** The part of the memory that one client may hold. */
const CLIENT_SHARE = 1 / 2;

export function postTraces(app: FastifyInstance, { contract, access, intake }: TracesNeeds): void {
  const { ldv, ldvOut, server } = app.settings;
  const memory = createSemaphore({
    maxBytes: Math.max(ldv.bodyLimitBytes, server.bodiesInProgressBytes),
    waitMs: server.requestTimeoutMs / 2,
    clientShare: CLIENT_SHARE,
    full: () => new Problem(platformProblems.unavailable, { headers: RETRY }),
  });
  acceptOtlpBodies(app);
  contract.serve(
    app,
    'postTraces',
    { authenticate: access, rawBody: { maxBytes: ldv.bodyLimitBytes } },
    async (request, reply) => {
      // The lines are stored also when the client hangs up meanwhile, so the bytes of its request count until then.
      const release = request.holdBody?.();
      try {
        const { form, bytes, permit } = await readOtlpBody(request, {
          maxBytes: ldv.bodyLimitBytes,
          memory,
          client: clientKey(request),
          signal: requestClosedSignal(reply),
        });
        try {
          const spans = await decoded(() => decodeRequest(bytes, form, ldv.maxSpans));
          const answer = await intake(spans, senderOf(request, ldvOut.peers));
          return await reply.type(MEDIA_TYPES[form]).send(encodeResponse(answer, form));
        } finally {
          permit.release();
        }
      } finally {
        release?.();
      }
    },
  );
}

function senderOf(request: FastifyRequest, peers: readonly string[]): LineSender {
  const caller = callerOf(request);
  return {
    client: `${caller.kind} ${caller.subject}`,
    auteur: { door: caller.subject, verzoekId: request.id },
    trace: () => traceOf(request),
    isPeer: peers.includes(caller.subject),
    oin: callerOin(caller),
    mayBeConfidential: caller.scopes.has('create:confidential'),
  };
}

async function decoded(decode: () => Promise<Span[]>): Promise<Span[]> {
  try {
    return await decode();
  } catch (cause) {
    if (cause instanceof TooManySpansError)
      throw new Problem(platformProblems.bodyTooLarge, {
        detail: 'Het verzoek heeft te veel regels of onderdelen.',
        cause,
      });
    if (cause instanceof OtlpError)
      throw new Problem(platformProblems.invalidRequest, {
        detail: 'Het verzoek is geen ExportTraceServiceRequest.',
        cause,
      });
    throw cause;
  }
}

/** Numbers of `google.rpc.Code` by status. */
const CODES: Readonly<Record<number, number>> = { 401: 16, 403: 7, 404: 5, 405: 12, 429: 8, 503: 14 };
const INVALID_ARGUMENT = 3;

/**
 * Errors as OTLP has them: a `google.rpc.Status` in the type of the request. A client repeats a request only after 429, 502, 503 and 504:
 * whatever goes wrong here is a 503, for after a 500 it would throw its lines away.
 */
export const OTLP_ERRORS: ProblemStyle = {
  mayBeDone: 'De regels kunnen toch zijn vastgelegd. Ze opnieuw sturen is veilig: een regel wordt eenmaal vastgelegd.',
  translate: (problem) =>
    problem.kind.status < 500
      ? problem
      : new Problem(platformProblems.unavailable, { headers: { ...RETRY, ...problem.headers }, cause: problem.cause }),
  answer: (request, { status, title, detail }) => {
    const form = formOf(request) ?? 'json';
    const body = encodeStatus({ code: CODES[status] ?? INVALID_ARGUMENT, message: detail ?? title }, form);
    return { type: MEDIA_TYPES[form], body };
  },
};
