import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../http/auth.ts';
import type { RequestHook } from '../http/contract.ts';
import { headerValues } from '../http/header-values.ts';
import { hasOtherCharset } from '../http/json-body.ts';
import { platformProblems } from '../http/problems.ts';
import { Problem } from '../kernel/problem.ts';
import { JadesError } from './jades/errors.ts';
import { parseStrictObject } from './jades/strict-json.ts';
import type { Verified, Verifier } from './jades/verify.ts';
import type { GegevensMetrics } from './metrics.ts';
import { signatureProblem } from './signature-problem.ts';

/** A request whose digest and signature hold. */
export interface Exchange extends Verified {
  /** The body as received. */
  readonly body: string;
}

const exchanges = new WeakMap<FastifyRequest, Exchange>();

/** @throws {TypeError} on a route that does not verify: a mistake of ours */
export function exchangeOf(request: FastifyRequest): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new TypeError('this route verifies no signature');
  return exchange;
}

/** Leaves bodies as the bytes that were received: digest and signature are over those. */
export function rawJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (hasOtherCharset(request.headers['content-type'])) {
      done(new Problem(platformProblems.unsupportedMediaType, { detail: 'De tekenset moet UTF-8 zijn.' }));
    } else done(null, body);
  });
}

export interface VerifyExchangeOptions {
  readonly verifier: Verifier;
  /** OINs of who may ask; empty: everyone with a trusted certificate and a token. */
  readonly allowedSigners: readonly string[];
  readonly metrics: GegevensMetrics;
}

/** Verifies a request once its body is there, and only then reads the body as JSON. */
export function verifyExchange({ verifier, allowedSigners, metrics }: VerifyExchangeOptions): RequestHook {
  return async (request) => {
    const body = receivedBytes(request);
    const text = decodeUtf8(body);
    const verified = await verifier
      .verify({
        digestHeader: headerValues(request.raw, 'digest'),
        signatureHeader: headerValues(request.raw, 'nlgov-adr-payload-sig'),
        body,
      })
      .catch((error: unknown) => {
        if (!(error instanceof JadesError)) throw error;
        metrics.signatureFailures.inc({ cause: error.code });
        throw signatureProblem(error);
      });
    checkSigner(request, verified, allowedSigners);
    exchanges.set(request, { ...verified, body: text });
    request.body = parseBody(text);
  };
}

function receivedBytes({ body }: FastifyRequest): Buffer {
  if (Buffer.isBuffer(body) && body.length > 0) return body;
  throw new Problem(platformProblems.invalidRequest, { detail: 'De inhoud ontbreekt.' });
}

function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw new Problem(platformProblems.invalidRequest, { detail: 'De inhoud is geen geldige UTF-8.', cause });
  }
}

/** The signer is who the token is for, and one of those who may ask. */
function checkSigner(request: FastifyRequest, { oin }: Verified, allowed: readonly string[]): void {
  const caller = callerOf(request);
  const refuse = (detail: string): Problem =>
    new Problem(platformProblems.forbidden, { detail, fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN' });
  if (caller.kind === 'fsc' && (oin === undefined || (oin !== caller.oin && oin !== caller.actor))) {
    throw refuse('Het OIN van de ondertekenaar is niet dat van het toegangstoken.');
  }
  if (allowed.length > 0 && (oin === undefined || !allowed.includes(oin))) {
    throw refuse('De ondertekenaar mag hier geen gegevens opvragen.');
  }
}

function parseBody(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // Two readers of a signed text must see the same: a member that occurs twice is refused.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? parseStrictObject(text) : value;
  } catch (cause) {
    const detail =
      cause instanceof SyntaxError && cause.message.endsWith('occurs twice')
        ? 'Een lid van de inhoud komt meer dan eens voor.'
        : 'De inhoud is geen geldige JSON.';
    throw new Problem(platformProblems.invalidRequest, { detail, cause });
  }
}
