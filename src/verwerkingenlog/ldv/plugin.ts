/** The Logboek Dataverwerkingen: lines over OTLP/HTTP, with the errors of that protocol. @see opentelemetry-proto 1.11, docs/specification.md */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { operations } from '../../contracts/ldv.ts';
import { readOpenapi } from '../../lib/openapi-document.ts';
import { Problem } from '../../lib/problem.ts';
import { createSemaphore } from '../../lib/scheduling.ts';
import { callerOf, callerOin } from '../../plugins/auth.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import { type Contract, createContract } from '../../plugins/contract.ts';
import { clientKey, hasOtherCharset, traceOf } from '../../plugins/headers.ts';
import type { ProblemStyle } from '../../plugins/problem-reply.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { mount } from '../../plugins/requests.ts';
import { startForwarding } from './forward.ts';
import { createIntake, type Intake } from './intake.ts';
import { createLineStore, type LineSender } from './lines.ts';
import { encodeResponse, encodeStatus, MEDIA_TYPES, type OtlpForm } from './otlp.ts';
import { readRequest } from './request.ts';
import { OtlpError } from './span.ts';
import { keptAttributes } from './stored-line.ts';

const CONTRACT = new URL('../../../openapi/ldv.yaml', import.meta.url);

export const ldv = fp(serveLdv, { name: 'ldv', dependencies: ['verwerkingenlog'] });

async function serveLdv(app: FastifyInstance): Promise<void> {
  const { ldv, ldvOut, server, verwerkingenlog } = app.settings;
  if (ldvOut.forwardUrl !== undefined) startForwarding(app, ldvOut.forwardUrl, app.database.pool);
  const contract = createContract<operations>(readOpenapi(CONTRACT));
  const intake = createIntake(app, createLineStore(app));
  await mount(app, {
    isPersonal: true,
    prefix: ldv.prefix,
    // One client may hold half of it, so that a request of the largest size is never refused because of another.
    bodiesInProgressBytes: Math.max(server.bodiesInProgressBytes, 4 * ldv.bodyLimitBytes),
    contract,
    rateLimit: verwerkingenlog.rateLimit,
    problemStyle: OTLP_ERRORS,
    routes: async (scope) => postTraces(scope, contract, intake),
  });
}

const decompress = promisify(gunzip);
const RETRY = { 'retry-after': '5' };
const CLIENT_SHARE = 1 / 2;
/** Deflate never makes more of a byte than this. */
const MOST_PER_BYTE = 1032;

function postTraces(app: FastifyInstance, contract: Contract<operations>, intake: Intake): void {
  const { ldv, ldvOut, server } = app.settings;
  const maxBytes = ldv.bodyLimitBytes;
  const kept = keptAttributes(ldv.keepAttributes);
  // Bytes of decompressed bodies that are processed at a time.
  const memory = createSemaphore({
    maxWeight: Math.max(maxBytes, server.bodiesInProgressBytes),
    waitMs: server.requestTimeoutMs / 2,
    clientShare: CLIENT_SHARE,
    full: () => new Problem(platformProblems.unavailable, { headers: RETRY }),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(Object.values(MEDIA_TYPES), { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  contract.serve(
    app,
    'postTraces',
    { authenticate: app.verwerkingenlog.access, rawBody: { maxBytes } },
    async (request, reply) => {
      const form = formOf(request);
      if (form === undefined) throw unsupported('Het mediatype moet application/x-protobuf of application/json zijn.');
      const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
      // `x-gzip` is another name for it (RFC 9110 section 8.4.1.3).
      const isPacked = encoding === 'gzip' || encoding === 'x-gzip';
      if (!isPacked && encoding !== 'identity') throw unsupported('De codering moet gzip zijn, of geen.');
      // Without a body nothing was parsed.
      const body: unknown = request.body ?? Buffer.alloc(0);
      if (!Buffer.isBuffer(body)) throw new TypeError('the body was not read as bytes');
      const weight = isPacked ? Math.min(maxBytes, body.length * MOST_PER_BYTE) : body.length;
      const permit = await memory.acquire({ weight, client: clientKey(request) }, requestClosedSignal(reply));
      try {
        const bytes = isPacked ? await unpack(body, maxBytes) : body;
        permit.resize(bytes.length);
        const read = await readRequest(bytes, form, ldv.maxSpans, kept);
        const answer = await intake(read, senderOf(request, ldvOut.peers), bytes.length);
        return await reply.type(MEDIA_TYPES[form]).send(encodeResponse(answer, form));
      } catch (cause) {
        if (cause instanceof OtlpError) throw invalid('Het verzoek is geen ExportTraceServiceRequest.', cause);
        throw cause;
      } finally {
        permit.release();
      }
    },
  );
}

function formOf({ headers }: FastifyRequest): OtlpForm | undefined {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === MEDIA_TYPES.protobuf) return 'protobuf';
  return type === MEDIA_TYPES.json && !hasOtherCharset(headers['content-type']) ? 'json' : undefined;
}

async function unpack(body: Buffer, maxBytes: number): Promise<Uint8Array> {
  try {
    return await decompress(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (cause instanceof RangeError) throw new Problem(platformProblems.bodyTooLarge, { cause });
    throw invalid('De inhoud kan niet uitgepakt worden.', cause);
  }
}

function unsupported(detail: string): Problem {
  return new Problem(platformProblems.unsupportedMediaType, { detail });
}

function invalid(detail: string, cause: unknown): Problem {
  return new Problem(platformProblems.invalidRequest, { detail, cause });
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

/** `google.rpc.Code` by status. */
const CODES: Readonly<Record<number, number>> = { 401: 16, 403: 7, 404: 5, 405: 12, 429: 8, 503: 14 };
const INVALID_ARGUMENT = 3;

/**
 * Errors in the form of OTLP: a `google.rpc.Status` in the type of the request. A client repeats a request only after 429, 502, 503 and 504, so every
 * failure here is a 503: after a 500 it would discard its lines.
 */
const OTLP_ERRORS: ProblemStyle = {
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
