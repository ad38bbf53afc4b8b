import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/auth.ts';
import { hasOtherCharset } from '../../http/bodies.ts';
import type { RequestHook } from '../../http/contract.ts';
import { headerValues } from '../../http/headers.ts';
import { platformProblems } from '../../http/problems.ts';
import type { Pool } from '../../kernel/database/pool.ts';
import { Problem } from '../../kernel/problem.ts';
import { JadesError } from '../jades/errors.ts';
import { parseStrictObject } from '../jades/protected-header.ts';
import type { Verified, Verifier } from '../jades/verify.ts';
import type { GegevensMetrics } from '../metrics.ts';
import type { Variant } from '../model/mapping.ts';
import { gegevensProblems } from '../problems.ts';
import { findEarlierAnswer, isSameCaller } from '../store/journal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What was verified of the request; absent before that. */
    exchange?: Exchange;
  }
}

/** A request whose digest and signature hold. */
export interface Exchange extends Verified {
  /** The body as received. */
  readonly body: string;
}

/** @throws {TypeError} on a route that does not verify: a programming error */
export function exchangeOf({ exchange }: FastifyRequest): Exchange {
  if (exchange === undefined) throw new TypeError('this route verifies no signature');
  return exchange;
}

/** Bodies stay the bytes that were received: digest and signature are over those. */
export function rawJsonBody(app: FastifyInstance): void {
  app.decorateRequest('exchange');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (hasOtherCharset(request.headers['content-type'])) {
      done(new Problem(platformProblems.unsupportedMediaType, { detail: 'De tekenset moet UTF-8 zijn.' }));
    } else done(null, body);
  });
}

interface SignerRules {
  /** OINs of who may ask; empty: everyone with a trusted certificate and a token. */
  readonly allowedSigners: readonly string[];
  /** Whether the client of an OAuth token has an OIN, which must be the signer's. */
  readonly bindsClients: boolean;
}

interface VerifyExchangeOptions extends SignerRules {
  readonly variant: Variant;
  readonly pool: Pool;
  readonly verifier: Verifier;
  readonly metrics: GegevensMetrics;
}

/** Verifies a request once its body is there, and only then reads the body as JSON. */
export function verifyExchange(options: VerifyExchangeOptions): RequestHook {
  const { variant, pool, verifier, metrics } = options;
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
    checkSigner(request, verified, options);
    const answered = await findEarlierAnswer(pool, verified.signature);
    if (answered !== undefined && !isSameCaller(answered, { variant, subject: callerOf(request).subject })) {
      throw reusedRequest();
    }
    request.exchange = { ...verified, body: text };
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

/** The signer must be the party that the token is for, where tokens prove that, and must be allowed to ask. */
function checkSigner(request: FastifyRequest, { oin }: Verified, { allowedSigners, bindsClients }: SignerRules): void {
  const caller = callerOf(request);
  const isFsc = caller.kind === 'fsc';
  if (isFsc || bindsClients) {
    const proven = isFsc ? [caller.oin, caller.actor] : [caller.oin];
    if (proven.every((value) => value === undefined)) {
      throw refused('Van de client van het toegangstoken is geen OIN bekend.');
    }
    if (oin === undefined || !proven.includes(oin)) {
      throw refused('Het OIN van de ondertekenaar is niet dat van het toegangstoken.');
    }
  }
  if (allowedSigners.length > 0 && (oin === undefined || !allowedSigners.includes(oin))) {
    throw refused('De ondertekenaar mag hier geen gegevens opvragen.');
  }
}

/** For a signed request that was answered to another caller, or in the other variant. */
export function reusedRequest(): Problem {
  return refused('Dit ondertekende verzoek is eerder voor een andere aanroeper of variant beantwoord.');
}

function refused(detail: string): Problem {
  return new Problem(platformProblems.forbidden, { detail, fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN' });
}

function parseBody(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // A member that occurs twice is refused: two readers of a signed text must read the same.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? parseStrictObject(text) : value;
  } catch (cause) {
    const detail =
      cause instanceof SyntaxError && cause.message.endsWith('occurs twice')
        ? 'Een lid van de inhoud komt meer dan eens voor.'
        : 'De inhoud is geen geldige JSON.';
    throw new Problem(platformProblems.invalidRequest, { detail, cause });
  }
}

/** The problem of a signature or digest that is not accepted; each cause has its own. */
function signatureProblem(error: JadesError): Problem {
  return new Problem(gegevensProblems[error.code], { detail: error.detail, cause: error });
}
