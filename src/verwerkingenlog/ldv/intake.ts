/** From spans to stored lines: which are refused, the register's values for the others, and the answer. */
import type { FastifyInstance } from 'fastify';
import { Counter } from 'prom-client';
import type { Db } from '../../database/transaction.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { isTerm } from '../../lib/time.ts';
import { type ActiviteitVersie, readActiviteitVersies } from '../store/activiteiten.ts';
import type { LineOutcome, LineSender, NewLine, StoreLines } from './lines.ts';
import { actieOfSpan, activityIdIn, type LineContext, logbooksOf, withoutLogbooks } from './mapping.ts';
import { withGuardedErrors } from './masking.ts';
import { type ExportResponse, tooManySpans } from './otlp.ts';
import type { ReadRequest } from './request.ts';
import { IGNORED, isId, judge, MAX_LINE } from './rules.ts';
import { activityOf, dateOf, NS_PER_MS, type Span } from './span.ts';
import { writeLine } from './stored-line.ts';

const NAMED_REASONS = 10;
const CONFLICT = 'onder deze ids staat al een andere regel van deze client';

interface Refusal {
  readonly span: Pick<Span, 'traceId' | 'spanId'>;
  readonly reason: string;
}

/**
 * @param bytes of the request
 * @throws {Problem} when far more would be stored: each line keeps the resource that it shares with others in the request
 */
export type Intake = (request: ReadRequest, sender: LineSender, bytes: number) => Promise<ExportResponse>;

/** Characters that may be stored for each byte of a request, unless they are few. */
const KEPT_PER_BYTE = 16;
const FEW = 1_000_000;

export function createIntake(
  { settings, database, actieLog, metrics, publicBaseUrl }: FastifyInstance,
  store: StoreLines,
): Intake {
  const { otherSpans, plainBsn, unknownActivity, uitvoerder } = settings.ldv;
  const { checkBsn } = settings.verwerkingenlog;
  const counter = new Counter({
    name: 'koppelvlak_ldv_spans_total',
    help: 'Spans received over OTLP, by outcome',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const otherContents = new Counter({
    name: 'koppelvlak_ldv_other_contents_total',
    help: 'Requests over OTLP with something else where spans are expected: names in another spelling, logs, an older form',
    registers: [metrics],
  });
  const unknown = new Counter({
    name: 'koppelvlak_ldv_unknown_activity_total',
    help: 'Lines of LDV that name a processing activity that is not in the register',
    registers: [metrics],
  });

  /** The register's values for a line. @returns the reason of a refusal as a text */
  function contextOf(
    span: Span,
    register: ReadonlyMap<string, readonly ActiviteitVersie[]>,
    { oin = uitvoerder, mayBeConfidential }: LineSender,
  ): LineContext | string {
    const ofClient = { uitvoerder: oin ?? null };
    const activity = activityOf(span) ?? '';
    if (activity === '') {
      const vertrouwelijkheid = unknownActivity === 'refuse' ? 'normaal' : unknownActivity;
      return { ...ofClient, vertrouwelijkheid, bewaartermijn: null, verwerkingNaam: null };
    }
    const versies = register.get(activityIdIn(activity) ?? '') ?? [];
    const known = validAt(versies, dateOf(span.start));
    if (known === undefined) {
      unknown.inc();
      if (unknownActivity === 'refuse') return 'de verwerkingsactiviteit staat niet in het register';
      // If the operator hides lines of unknown activities, the client needs no scope for them.
      return { ...ofClient, vertrouwelijkheid: unknownActivity, bewaartermijn: null, verwerkingNaam: null };
    }
    const { bewaartermijn, naam: verwerkingNaam } = known;
    // A line that arrives late must not reveal a present investigation.
    const isConfidential = [known, versies.at(-1)].some((versie) => versie?.vertrouwelijkheid === 'vertrouwelijk');
    if (isConfidential && !mayBeConfidential) return 'deze verwerkingsactiviteit vraagt de scope create:confidential';
    return {
      ...ofClient,
      verwerkingNaam,
      vertrouwelijkheid: isConfidential ? 'vertrouwelijk' : 'normaal',
      bewaartermijn: bewaartermijn !== null && isTerm(bewaartermijn) ? bewaartermijn : null,
    };
  }

  return async ({ spans, unreadable, others }, sender, bytes) => {
    const isIgnored = ({ isOther }: { readonly isOther: boolean }) => isOther && otherSpans === 'ignore';
    const refusals: Refusal[] = unreadable
      .filter((one) => !isIgnored(one))
      .map(({ reason, ...span }) => ({ span, reason }));
    const judged: Span[] = [];
    const outcomes: ('ignored' | 'passed-before' | LineOutcome)[] = unreadable.filter(isIgnored).map(() => 'ignored');
    if (others.length > 0) otherContents.inc();
    const last = spans.reduce((most, { end }) => Math.max(most, Number(end / NS_PER_MS)), 0);
    const latest = BigInt(await actieLog.latestMoment(last)) * NS_PER_MS;
    const rules = { otherSpans, plainBsn, checkBsn, latest };
    for (const sent of spans) {
      if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
      const span = sender.isPeer ? sent : withoutLogbooks(sent);
      // It was forwarded from here: it is stored, or was removed since.
      if (logbooksOf(span).includes(publicBaseUrl())) {
        outcomes.push('passed-before');
        continue;
      }
      const reason = judge(span, rules);
      if (reason === undefined) judged.push(withGuardedErrors(span));
      else if (reason === IGNORED) outcomes.push('ignored');
      else refusals.push({ span, reason });
    }
    const register = await readRegister(database.logPool, judged);
    const lines: NewLine[] = [];
    let room = Math.max(FEW, bytes * KEPT_PER_BYTE);
    for (const span of judged) {
      if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
      const context = contextOf(span, register, sender);
      const client = clientOf(span, sender);
      const text = writeLine({ span, client });
      room -= text.length;
      if (room < 0) throw tooManySpans();
      if (typeof context === 'string') refusals.push({ span, reason: context });
      else if (text.length > MAX_LINE) refusals.push({ span, reason: `de regel heeft meer dan ${MAX_LINE} tekens` });
      else lines.push({ span, client, text, actie: actieOfSpan(span, context) });
    }
    const stored = await store(lines, sender);
    for (const [i, { span }] of lines.entries())
      if (stored[i] === 'conflict') refusals.push({ span, reason: CONFLICT });
    counter.inc({ outcome: 'refused' }, refusals.length);
    for (const outcome of [...outcomes, ...stored]) if (outcome !== 'conflict') counter.inc({ outcome });
    return answerOf(refusals, others, spans.length + unreadable.length);
  };
}

/** The owner of a line. For a line that another logbook forwards, this is the logbook where it began: it may arrive by several routes. */
function clientOf(span: Span, { client, isPeer }: LineSender): string {
  const [first] = isPeer ? logbooksOf(span) : [];
  return first === undefined ? client : `logbook ${first}`;
}

async function readRegister(db: Db, spans: readonly Span[]): Promise<ReadonlyMap<string, readonly ActiviteitVersie[]>> {
  const ids = new Set(spans.flatMap((span) => activityIdIn(activityOf(span) ?? '') ?? []));
  return ids.size === 0 ? new Map() : await readActiviteitVersies(db, [...ids]);
}

/**
 * The register's values at a moment. A line from before the activity was first recorded uses its first version: the register of an organisation is
 * often filled later than its applications log.
 */
function validAt(versies: readonly ActiviteitVersie[], at: Date): ActiviteitVersie | undefined {
  const valid = versies.findLast(({ vanaf }) => vanaf <= at) ?? versies[0];
  return valid === undefined || valid.verwijderd ? undefined : valid;
}

function answerOf(refusals: readonly Refusal[], others: readonly string[], found: number): ExportResponse {
  const messages = [...refusalsText(refusals), ...othersText(others, found)];
  return { rejectedSpans: refusals.length, errorMessage: messages.join('; ') };
}

function refusalsText(refusals: readonly Refusal[]): string[] {
  if (refusals.length === 0) return [];
  const named = refusals.slice(0, NAMED_REASONS).map(({ span: { traceId, spanId }, reason }) => {
    const trace = isId(traceId, 32) ? `trace ${traceId}, ` : '';
    return `${trace}span ${isId(spanId, 16) ? spanId : '(zonder geldig id)'}: ${reason}`;
  });
  const more = refusals.length > named.length ? '; en andere' : '';
  const howMany = refusals.length === 1 ? '1 regel is geweigerd' : `${refusals.length} regels zijn geweigerd`;
  return [`${howMany}; ${named.join('; ')}${more}`];
}

/** What the sender sent instead of spans. */
function othersText(others: readonly string[], found: number): string[] {
  if (others.length === 0) return [];
  const named = `${others.slice(0, NAMED_REASONS).join(', ')}${others.length > NAMED_REASONS ? ' en andere' : ''}`;
  const what = found === 0 ? 'er zijn geen regels gevonden' : 'een deel is niet gelezen';
  return [`${what}: in plaats van resourceSpans[].scopeSpans[].spans[] staat er ${named}`];
}
