/** `POST /gegevens`: verifies the signed request, and answers with the requested page, signed and recorded. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/gegevens.ts';
import type { Pool } from '../../database/pool.ts';
import type { Db } from '../../database/transaction.ts';
import type { Mapping, Variant } from '../../lib/exchange-model/mapping.ts';
import { JadesError } from '../../lib/jades/certificate.ts';
import { plainStyles } from '../../lib/jades/signature.ts';
import type { Verified, Verifier } from '../../lib/jades/verify.ts';
import { DuplicateMemberError, parseStrictObject } from '../../lib/json/json-text.ts';
import { parseUntrusted } from '../../lib/json/parse-untrusted.ts';
import { Problem } from '../../lib/problem.ts';
import type { Clock } from '../../lib/time.ts';
import { callerOf } from '../../plugins/auth.ts';
import { endSlowReader, requestClosedSignal } from '../../plugins/connections.ts';
import type { RequestHook, RequestOf } from '../../plugins/contract.ts';
import { clientKey, fscTransaction, hasOtherCharset, headerValues, traceOf } from '../../plugins/headers.ts';
import type { Caller } from '../../plugins/oauth/token.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { ProcessingContext } from '../../plugins/processing-headers.ts';
import type { ProcessingLog } from '../../plugins/processing-log.ts';
import type { ProofWriter } from '../../proof/proof-log.ts';
import type { Config } from '../../settings/read-config.ts';
import { type FoundPage, type PageFinder, SMALL_BYTES, sendPage } from '../exchange/page.ts';
import type { GegevensMetrics } from '../metrics.ts';
import { filterOf, type Uncovered } from '../model/selection.ts';
import type { OwnSigner } from '../own-signer.ts';
import { gegevensProblems } from '../problems.ts';
import { isOfAnotherCaller, markSent, writeJournal } from '../store/journal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What was verified of the request; absent before that. */
    exchange?: Exchange;
  }
}

/** A request whose digest and signature hold. */
interface Exchange extends Verified {
  /** The body as received. */
  readonly body: string;
}

/** @throws {TypeError} on a route that does not verify: a programming error */
function exchangeOf({ exchange }: FastifyRequest): Exchange {
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

interface VerifyExchangeOptions {
  /** OINs of who may ask; empty: everyone with a trusted certificate and a token. */
  readonly allowedSigners: readonly string[];
  /** Whether the client of an OAuth token has an OIN, which must be the signer's. */
  readonly bindsClients: boolean;
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
        throw new Problem(gegevensProblems[error.code], { detail: error.detail, cause: error });
      });
    checkSigner(request, verified, options);
    // Before anything is done for it; the journal decides between callers that come at once.
    const { subject } = callerOf(request);
    if (await isOfAnotherCaller(pool, { variant, subject, vraagHandtekening: verified.signature }))
      throw refused(REUSED);
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
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new Problem(platformProblems.invalidRequest, { detail: 'De inhoud is geen geldige UTF-8.', cause });
  }
}

/** The signer must be the party that the token is for, where tokens prove that, and must be allowed to ask. */
function checkSigner(
  request: FastifyRequest,
  { oin }: Verified,
  { allowedSigners, bindsClients }: VerifyExchangeOptions,
): void {
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

/** The detail for a signed request that was answered to another caller, or in the other variant. */
const REUSED = 'Dit ondertekende verzoek is eerder voor een andere aanroeper of variant beantwoord.';

function refused(detail: string): Problem {
  return new Problem(platformProblems.forbidden, { detail, fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN' });
}

function parseBody(text: string): unknown {
  try {
    const value = parseUntrusted(text, { bytes: Buffer.byteLength(text) });
    // A member that occurs twice is refused: two readers of a signed text must read the same.
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? parseStrictObject(text) : value;
  } catch (cause) {
    const detail =
      cause instanceof DuplicateMemberError
        ? 'Een lid van de inhoud komt meer dan eens voor.'
        : 'De inhoud is geen geldige JSON.';
    throw new Problem(platformProblems.invalidRequest, { detail, cause });
  }
}

interface PostGegevensNeeds {
  readonly config: Pick<Config, 'gegevens' | 'server'>;
  readonly pool: Pool;
  readonly clock: Clock;
  /** The proof log of deliveries, when there is one. */
  readonly proof: ProofWriter | undefined;
  readonly variant: Variant;
  readonly mapping: Mapping;
  readonly findPage: PageFinder;
  readonly ownSigner: OwnSigner;
  readonly processingLog: ProcessingLog;
  /** Reads the six processing headers, against who token and signature prove. */
  readonly consumerOf: (request: FastifyRequest, signerOin: string | undefined) => ProcessingContext;
  readonly metrics: GegevensMetrics;
  /** Tracks work that goes on after an answer: closing the area waits for it. */
  readonly background: (work: Promise<unknown>) => void;
}

const MAX_NAMED_GAPS = 100;
const ACTIE = {
  shv: 'Levering van gegevens over schuldhulptrajecten',
  vs: 'Levering van gegevens over vroegsignalen',
} as const;

/** `POST /gegevens`: the requested page, signed; recorded in the journal and the processing log before it is sent. */
export function postGegevens(needs: PostGegevensNeeds) {
  const { config, variant, mapping, findPage, ownSigner, metrics } = needs;
  const { signatureForm: form, answersMinBytesPerSecond } = config.gegevens;
  const minSpeed = { bytesPerSecond: answersMinBytesPerSecond, windowMs: config.server.requestTimeoutMs };
  return async (request: RequestOf<operations['postGegevens']>, reply: FastifyReply): Promise<FastifyReply> => {
    const caller = callerOf(request);
    const exchange = exchangeOf(request);
    const consumer = needs.consumerOf(request, exchange.oin);
    const { body } = request;
    const { aanleverperiodeStartdatum: start, aanleverperiodeEinddatum: end } = body;
    if (start !== undefined && end !== undefined && start > end) {
      const detail = 'aanleverperiodeStartdatum ligt na aanleverperiodeEinddatum.';
      throw new Problem(gegevensProblems.omgekeerdePeriode, { detail });
    }
    const page = await findPage(
      {
        filter: filterOf(mapping, body),
        page: body.page,
        pageSize: body.pageSize,
        afnemer: exchange.oin ?? caller.subject,
        client: clientKey(request),
      },
      requestClosedSignal(reply),
    );
    if (page.uncovered.length > 0) {
      const gaps = { ongedekt: namedGaps(page.uncovered), total: page.uncovered.length };
      request.log.warn(gaps, 'the request covers days for which there is no delivery');
    }
    // The deadline may have answered meanwhile: the reply is closed then, and no event will release the page.
    if (reply.sent || reply.raw.closed) {
      page.release();
      return reply;
    }
    reply.raw.once('close', page.release);
    // A requester that uses the configured form itself gets the same variant of it.
    const style = form === 'mirror' || form === exchange.style.form ? exchange.style : plainStyles[form];
    const { signature } = await ownSigner.signer().sign(page.pieces, style, page.digest);
    const journalId = await recordDelivery({ needs, request, caller, exchange, consumer, page, signature });
    if (reply.sent) return reply;
    metrics.pages.inc({ from: page.from });
    reply.raw.once('finish', () => {
      // A hook or the deadline may have replaced the page by a problem: then it was not delivered.
      if (reply.raw.statusCode !== 200) return;
      metrics.deliveries.inc({ variant });
      metrics.deliveredBytes.inc({ variant }, page.bytes);
      needs.background(
        markSent(needs.pool, journalId).catch((error: unknown) =>
          request.log.warn({ err: error, journalId }, 'an answer was sent, but the journal could not be updated'),
        ),
      );
    });
    if (page.bytes > SMALL_BYTES) endSlowReader(request, reply, minSpeed);
    return reply
      .headers({
        digest: page.digest,
        'nlgov-adr-payload-sig': signature,
        'content-length': page.bytes,
        'cache-control': 'no-store, no-transform',
      })
      .type('application/json; charset=utf-8')
      .send(sendPage(page));
  };
}

/** At most this many gaps are recorded: a request for a century of hundreds of organisations must not fill the journal. */
function namedGaps(uncovered: readonly Uncovered[]): readonly Uncovered[] {
  return uncovered.slice(0, MAX_NAMED_GAPS);
}

interface DeliveryRecord {
  readonly needs: PostGegevensNeeds;
  readonly request: FastifyRequest;
  readonly caller: Caller;
  readonly exchange: Exchange;
  readonly consumer: ProcessingContext;
  readonly page: FoundPage;
  readonly signature: string;
}

/** What was done, with who was delegated to it: a person can see who asked, and for whom. */
function handelingOf({ subject, actor, publishedFor }: Caller): string {
  const asked = actor === undefined ? [] : [`opgevraagd door ${actor} namens ${subject}`];
  const offered = publishedFor === undefined ? [] : [`aangeboden namens ${publishedFor}`];
  return ['Gegevensuitwisseling', ...asked, ...offered].join(', ');
}

/**
 * Writes journal and processing log, in one transaction.
 * @returns number of the journal entry
 * @throws {Problem} 502 when either cannot be written, 403 when the request was another caller's: nothing is sent then
 */
async function recordDelivery({ needs, request, caller, exchange, consumer, page, signature }: DeliveryRecord) {
  const { pool, clock, proof, variant, processingLog, ownSigner } = needs;
  const { fscTransactionId } = fscTransaction(request);
  const trace = traceOf(request);
  const { actor, publishedFor } = caller;
  const writeLine = async (db: Db): Promise<number> => {
    const id = await writeJournal(
      db,
      {
        variant,
        requestId: request.id,
        oin: exchange.oin ?? null,
        subject: caller.subject,
        tokenHash: caller.tokenHash,
        fscTransactieId: fscTransactionId ?? null,
        traceId: trace.traceId,
        spanId: trace.spanId,
        parentSpanId: trace.parentSpanId ?? null,
        vraag: exchange.body,
        vraagDigest: exchange.digest,
        vraagHandtekening: exchange.signature,
        pagina: page.page,
        paginaGrootte: page.pageSize,
        leveringen: page.leveringen,
        records: page.records,
        bytes: page.bytes,
        antwoordDigest: page.digest,
        antwoordHandtekening: signature,
        ongedekt: namedGaps(page.uncovered),
        ...(actor === undefined && publishedFor === undefined
          ? {}
          : { machtiging: { gemachtigde: actor, publicatieNamens: publishedFor } }),
      },
      proof,
    );
    if (id === undefined) throw refused(REUSED);
    return id;
  };
  const entry = {
    kind: variant,
    actieNaam: ACTIE[variant],
    handelingNaam: handelingOf(caller),
    consumer,
    confidential: false,
    uitvoerder: ownSigner.key().oin,
    systeem: 'koppelvlak',
    tijdstip: clock.now(),
  };
  const author = { subject: caller.subject, requestId: request.id, trace, fscTransactionId };
  return await processingLog.record(pool, writeLine, entry, author).catch((cause: unknown) => {
    if (cause instanceof Problem) throw cause;
    throw new Problem(gegevensProblems.dienstOnbereikbaar, {
      detail: 'De levering kan nu niet worden vastgelegd; er is niets geleverd.',
      fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
      cause,
    });
  });
}
