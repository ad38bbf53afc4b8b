import type { FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/gegevens.ts';
import { callerOf } from '../../http/auth.ts';
import { endSlowReader, requestClosedSignal } from '../../http/connections.ts';
import type { RequestOf } from '../../http/contract.ts';
import { clientKey } from '../../http/limits.ts';
import { fscTransaction } from '../../http/mount.ts';
import type { Caller } from '../../kernel/oauth/token.ts';
import type { Platform } from '../../kernel/platform.ts';
import { Problem } from '../../kernel/problem.ts';
import type { ProcessingContext, ProcessingLog } from '../../kernel/processing-log.ts';
import type { FoundPage, PageFinder } from '../exchange/find-page.ts';
import { isLarge } from '../exchange/memory-semaphore.ts';
import { type Exchange, exchangeOf, reusedRequest } from '../exchange/verify-exchange.ts';
import { sendPage, signPage } from '../exchange/write-page.ts';
import { plainStyles } from '../jades/sign.ts';
import type { GegevensMetrics } from '../metrics.ts';
import type { Uncovered } from '../model/leveringen.ts';
import type { Mapping, Variant } from '../model/mapping.ts';
import { filterOf, type GegevensRequest } from '../model/request.ts';
import type { OwnSigner } from '../own-signer.ts';
import { gegevensProblems } from '../problems.ts';
import { markSent, writeJournal } from '../store/journal.ts';

interface PostGegevensNeeds {
  readonly platform: Platform;
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
  const { platform, variant, mapping, findPage, ownSigner, metrics } = needs;
  const { signatureForm: form, answersMinBytesPerSecond } = platform.config.gegevens;
  const minSpeed = { bytesPerSecond: answersMinBytesPerSecond, windowMs: platform.config.server.requestTimeoutMs };
  return async (request: RequestOf<operations['postGegevens']>, reply: FastifyReply): Promise<FastifyReply> => {
    const caller = callerOf(request);
    const exchange = exchangeOf(request);
    const consumer = needs.consumerOf(request, exchange.oin);
    const { body } = request;
    assertPeriod(body);
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
    const signature = await signPage(ownSigner.signer(), page, style);
    const journalId = await recordDelivery({ needs, request, caller, exchange, consumer, page, signature });
    if (reply.sent) return reply;
    metrics.pages.inc({ from: page.from });
    reply.raw.once('finish', () => {
      // A hook or the deadline may have replaced the page by a problem: then it was not delivered.
      if (reply.raw.statusCode !== 200) return;
      metrics.deliveries.inc({ variant });
      metrics.deliveredRecords.inc({ variant }, page.records);
      metrics.deliveredBytes.inc({ variant }, page.bytes);
      needs.background(
        markSent(platform.pool, journalId).catch((error: unknown) =>
          request.log.warn({ err: error, journalId }, 'an answer was sent, but the journal could not be updated'),
        ),
      );
    });
    if (isLarge(page.bytes)) endSlowReader(request, reply, minSpeed);
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

function assertPeriod({ aanleverperiodeStartdatum: start, aanleverperiodeEinddatum: end }: GegevensRequest): void {
  if (start === undefined || end === undefined || start <= end) return;
  throw new Problem(gegevensProblems.omgekeerdePeriode, {
    detail: 'aanleverperiodeStartdatum ligt na aanleverperiodeEinddatum.',
  });
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

/** @returns number of the journal entry. @throws {Problem} 502 when journal or log cannot be written, 403 when the request was another caller's: nothing is sent then */
async function recordDelivery({
  needs,
  request,
  caller,
  exchange,
  consumer,
  page,
  signature,
}: DeliveryRecord): Promise<number> {
  const { platform, variant, processingLog, ownSigner } = needs;
  const written = await Promise.allSettled([
    writeJournal(platform.pool, {
      variant,
      requestId: request.id,
      oin: exchange.oin,
      subject: caller.subject,
      tokenHash: caller.tokenHash,
      fscTransactieId: fscTransaction(request).fscTransactionId,
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
    }),
    processingLog.record(
      {
        kind: variant,
        actieNaam: ACTIE[variant],
        handelingNaam: 'Gegevensuitwisseling',
        consumer,
        confidential: false,
        uitvoerder: ownSigner.key().oin,
        systeem: 'koppelvlak',
        tijdstip: platform.clock.now(),
      },
      { subject: caller.subject, requestId: request.id },
    ),
  ]);
  const failed = written.find((outcome) => outcome.status === 'rejected');
  const [journal] = written;
  if (failed !== undefined || journal.status !== 'fulfilled') {
    throw new Problem(gegevensProblems.dienstOnbereikbaar, {
      detail: 'De levering kan nu niet worden vastgelegd; er is niets geleverd.',
      fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
      cause: failed?.reason,
    });
  }
  if (journal.value === undefined) throw reusedRequest();
  return journal.value;
}
