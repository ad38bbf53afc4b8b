// `POST /gegevens`: verifies the signed request, and answers with the requested page, signed and recorded.
// @see docs/decisions/0013-a-signed-request-has-one-caller.md
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/gegevens.ts';
import type { Mapping, Variant } from '../../lib/exchange-model/mapping.ts';
import { JadesError } from '../../lib/jades/certificate.ts';
import type { Verified, Verifier } from '../../lib/jades/verify.ts';
import { parseStrict, UntrustedJsonError } from '../../lib/json/parse-untrusted.ts';
import { Problem } from '../../lib/problem.ts';
import { callerOf } from '../../plugins/auth.ts';
import { endSlowReader, requestClosedSignal } from '../../plugins/connections.ts';
import type { RequestHook, RequestOf } from '../../plugins/contract.ts';
import { clientKey, fscTransaction, hasOtherCharset, headerValues, traceOf } from '../../plugins/headers.ts';
import type { Caller } from '../../plugins/oauth/token.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { ProcessingContext } from '../../plugins/processing-headers.ts';
import { type FoundPage, type PageFinder, SMALL_BYTES, sendPage } from '../exchange/page.ts';
import type { GegevensMetrics } from '../metrics.ts';
import { filterOf } from '../model/selection.ts';
import type { OwnSigner } from '../own-signer.ts';
import { gegevensProblems } from '../problems.ts';
import { findFirstAnswer, isAnsweredMeanwhile, type JournalLine, markSent, writeJournal } from '../store/journal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The verified signature of the request; absent before that. */
    exchange?: Exchange;
  }
}

interface Exchange extends Verified {
  readonly text: string;
  /** Whether no answer to the same signed request is known. */
  readonly isFirst: boolean;
}

export interface ExchangeOptions {
  readonly variant: Variant;
  readonly mapping: Mapping;
  readonly findPage: PageFinder;
  readonly verifier: Verifier;
  readonly ownSigner: OwnSigner;
  /** Reads the six processing headers and compares them with the proven parties. */
  readonly consumerOf: (request: FastifyRequest, signerOin: string | undefined) => ProcessingContext;
  readonly metrics: GegevensMetrics;
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

/** Verifies a request once its body is there, and only then reads the body as JSON. */
export function verifyExchange({ settings, database }: FastifyInstance, options: ExchangeOptions): RequestHook {
  const { variant, verifier, metrics } = options;
  const { allowedSigners } = settings.gegevens;
  const bindsClients = settings.tokens.oauthOinClaim !== undefined || settings.tokens.oauthClientOins.size > 0;
  return async (request) => {
    const caller = callerOf(request);
    const { body } = request;
    if (!Buffer.isBuffer(body) || body.length === 0) throw invalid('De inhoud ontbreekt.');
    if (!isUtf8(body)) throw invalid('De inhoud is geen geldige UTF-8.');
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
    checkSigner(verified, caller, allowedSigners, bindsClients);
    // Checked before any work is done; among simultaneous callers the journal decides.
    const { subject } = caller;
    const signed = { variant, subject, vraagHandtekening: verified.signature };
    const first = await findFirstAnswer(database.exchangePool, signed);
    if (first === 'another caller or variant') throw refused(REUSED);
    request.exchange = { ...verified, text: new TextDecoder().decode(body), isFirst: first === 'none' };
    request.body = parseBody(body);
  };
}

/** The signer must be the party that the token proves, if any, and be allowed to ask. @param allowedSigners empty: all with a trusted certificate */
function checkSigner(
  { oin }: Verified,
  caller: Caller,
  allowedSigners: readonly string[],
  bindsClients: boolean,
): void {
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

const REUSED = 'Dit ondertekende verzoek is eerder voor een andere aanroeper of variant beantwoord.';

function refused(detail: string): Problem {
  return new Problem(platformProblems.forbidden, { detail, fsc: 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN' });
}

function invalid(detail: string, cause?: unknown): Problem {
  return new Problem(platformProblems.invalidRequest, { detail, cause });
}

function parseBody(body: Buffer): unknown {
  try {
    return parseStrict(body, { bytes: body.length });
  } catch (cause) {
    const isDouble = cause instanceof UntrustedJsonError && cause.code === 'double-member';
    throw invalid(
      isDouble ? 'Een lid van de inhoud komt meer dan eens voor.' : 'De inhoud is geen geldige JSON.',
      cause,
    );
  }
}

/** More gaps are not recorded: a request for a century of hundreds of organisations must not fill the journal. */
const MAX_NAMED_GAPS = 100;
const ACTIE = {
  shv: 'Levering van gegevens over schuldhulptrajecten',
  vs: 'Levering van gegevens over vroegsignalen',
} as const;

/** `POST /gegevens`: the requested page, signed; recorded in the journal and the processing log before it is sent. */
export function postGegevens(app: FastifyInstance, options: ExchangeOptions) {
  const { variant, mapping, findPage, ownSigner, consumerOf, metrics } = options;
  const { clock, processingLog, settings } = app;
  const { answersMinBytesPerSecond } = settings.gegevens;
  const minSpeed = { bytesPerSecond: answersMinBytesPerSecond, windowMs: settings.server.requestTimeoutMs };
  const pool = app.database.exchangePool;
  const proof = app.proof('leveringen');
  // Work that continues after the answer; closing waits for it.
  const running = new Set<Promise<unknown>>();
  app.addHook('onClose', async () => void (await Promise.all(running)));

  return async (request: RequestOf<operations['postGegevens']>, reply: FastifyReply): Promise<FastifyReply> => {
    const { body, exchange } = request;
    if (exchange === undefined) throw new TypeError('this route verifies no signature');
    const consumer = consumerOf(request, exchange.oin);
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
        afnemer: exchange.oin ?? callerOf(request).subject,
        client: clientKey(request),
      },
      requestClosedSignal(reply),
    );
    const { uncovered } = page;
    if (uncovered.length > 0) {
      const gaps = { ongedekt: uncovered.slice(0, MAX_NAMED_GAPS), total: uncovered.length };
      request.log.warn(gaps, 'the request covers days for which there is no delivery');
    }
    // The deadline may have answered meanwhile: the reply is closed then, and no event will release the page.
    if (reply.sent || reply.raw.closed) {
      page.release();
      return reply;
    }
    reply.raw.once('close', page.release);
    // In the style (body or digest) of the request, which its sender can certainly verify.
    const { key, signer } = ownSigner.current;
    const { signature } = await signer.sign(page.pieces, exchange.style, page.digest);
    const line: JournalLine = { variant, ...journalLine(request, exchange, page), antwoordHandtekening: signature };
    const journalId = await record(request, exchange.isFirst, { line, page, consumer, uitvoerder: key.oin });
    if (reply.sent) return reply;
    metrics.pages.inc({ from: page.from });
    reply.raw.once('finish', () => afterSending(request, reply, page, journalId));
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

  /** Writes journal and processing log in one transaction. @param isFirst no answer to this request is known; another caller may be first meanwhile */
  async function record(
    request: FastifyRequest,
    isFirst: boolean,
    { line, page, consumer, uitvoerder }: Delivery,
  ): Promise<number> {
    const caller = callerOf(request);
    const write = (first: boolean): Promise<number> =>
      processingLog.record(
        pool,
        async (db) => {
          const { result } = await writeJournal(db, line, { proof, isFirst: first });
          return { result: Promise.all([result, page.saveState(db)]).then(([id]) => id) };
        },
        {
          kind: variant,
          actieNaam: ACTIE[variant],
          handelingNaam: handelingOf(caller),
          consumer,
          confidential: false,
          uitvoerder,
          systeem: 'koppelvlak',
          tijdstip: clock.now(),
        },
        { subject: caller.subject, requestId: request.id, trace: traceOf(request), ...fscTransaction(request) },
      );
    try {
      return await write(isFirst).catch(async (error: unknown) => {
        if (!isAnsweredMeanwhile(error)) throw error;
        if ((await findFirstAnswer(pool, line)) === 'another caller or variant') throw refused(REUSED);
        return await write(false);
      });
    } catch (cause) {
      if (cause instanceof Problem) throw cause;
      throw new Problem(gegevensProblems.dienstOnbereikbaar, {
        detail: 'De levering kan nu niet worden vastgelegd; er is niets geleverd.',
        fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
        cause,
      });
    }
  }

  /** Counts an answer whose last byte was handed to the connection, and marks it in the journal. */
  function afterSending(request: FastifyRequest, reply: FastifyReply, page: FoundPage, journalId: number): void {
    // A hook or the deadline may have replaced the page with a problem; then it was not delivered.
    if (reply.raw.statusCode !== 200) return;
    metrics.deliveries.inc({ variant });
    metrics.deliveredBytes.inc({ variant }, page.bytes);
    const marking = markSent(pool, journalId)
      .catch((error: unknown) =>
        request.log.warn({ err: error, journalId }, 'an answer was sent, but the journal could not be updated'),
      )
      .finally(() => running.delete(marking));
    running.add(marking);
  }
}

interface Delivery {
  readonly line: JournalLine;
  readonly page: FoundPage;
  readonly consumer: ProcessingContext;
  readonly uitvoerder: string | undefined;
}

function journalLine(request: FastifyRequest, exchange: Exchange, page: FoundPage) {
  const { subject, tokenHash, actor, publishedFor } = callerOf(request);
  const { traceId, spanId, parentSpanId = null } = traceOf(request);
  const isDelegated = actor !== undefined || publishedFor !== undefined;
  return {
    requestId: request.id,
    oin: exchange.oin ?? null,
    subject,
    tokenHash,
    fscTransactieId: fscTransaction(request).fscTransactionId ?? null,
    traceId,
    spanId,
    parentSpanId,
    vraag: exchange.text,
    vraagDigest: exchange.digest,
    vraagHandtekening: exchange.signature,
    pagina: page.page,
    paginaGrootte: page.pageSize,
    leveringen: page.leveringen,
    records: page.records,
    bytes: page.bytes,
    antwoordDigest: page.digest,
    ongedekt: page.uncovered.slice(0, MAX_NAMED_GAPS),
    ...(isDelegated ? { machtiging: { gemachtigde: actor, publicatieNamens: publishedFor } } : {}),
  };
}

function handelingOf({ subject, actor, publishedFor }: Caller): string {
  const asked = actor === undefined ? [] : [`opgevraagd door ${actor} namens ${subject}`];
  const offered = publishedFor === undefined ? [] : [`aangeboden namens ${publishedFor}`];
  return ['Gegevensuitwisseling', ...asked, ...offered].join(', ');
}
