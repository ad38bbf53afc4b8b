/** From spans to stored lines: which are refused, the register's values for the others, and the answer. */
import type { FastifyInstance } from 'fastify';
import { Counter } from 'prom-client';
import type { Db } from '../../database/transaction.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { isTerm } from '../../lib/time.ts';
import { type ActiviteitVersie, readActiviteitVersies } from '../store/activiteiten.ts';
import type { LineSender, NewLine, StoreLines } from './lines.ts';
import { actieOfSpan, activityIdIn, type LineContext, logbooksOf, withoutLogbooks } from './mapping.ts';
import { withGuardedErrors } from './masking.ts';
import { type ExportResponse, tooManySpans } from './otlp.ts';
import type { ReadRequest, UnreadableSpan } from './request.ts';
import { IGNORED, isId, judge, MAX_LINE } from './rules.ts';
import { activityOf, dateOf, NS_PER_MS, type Span } from './span.ts';
import { writeLine } from './stored-line.ts';

const NAMED_REASONS = 10;
const CONFLICT = 'onder deze ids staat al een andere regel van deze client';

export type Intake = ReturnType<typeof createIntake>;

type Refusal = Pick<UnreadableSpan, 'traceId' | 'spanId' | 'reason'>;
type Register = ReadonlyMap<string, readonly ActiviteitVersie[]>;

/** Characters that may be stored for each byte of a request, unless they are few. */
const KEPT_PER_BYTE = 16;
const FEW = 1_000_000;

export function createIntake(app: FastifyInstance, store: StoreLines) {
  const { settings, database, actieLog, metrics, publicBaseUrl } = app;
  const { otherSpans, plainBsn, unknownActivity, uitvoerder } = settings.ldv;
  const { checkBsn } = settings.verwerkingenlog;
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `koppelvlak_ldv_${name}_total`, help, labelNames, registers: [metrics] });
  const received = counter('spans', 'Spans received over OTLP, by outcome', ['outcome']);
  const otherContents = counter(
    'other_contents',
    'Requests over OTLP with something else where spans are expected: names in another spelling, logs, an older form',
  );
  const unknown = counter(
    'unknown_activity',
    'Lines of LDV that name a processing activity that is not in the register',
  );

  /** The register's values for a line. @returns the reason of a refusal as a text */
  function contextOf(span: Span, register: Register, sender: LineSender): LineContext | string {
    const ofClient = { uitvoerder: sender.oin ?? uitvoerder ?? null };
    const activity = activityOf(span) ?? '';
    const versies = register.get(activityIdIn(activity) ?? '') ?? [];
    const known = validAt(versies, dateOf(span.start));
    if (known === undefined) {
      if (activity !== '') unknown.inc();
      if (activity !== '' && unknownActivity === 'refuse') return 'de verwerkingsactiviteit staat niet in het register';
      // If the operator hides lines of unknown activities, the client needs no scope for them.
      const vertrouwelijkheid = unknownActivity === 'refuse' ? 'normaal' : unknownActivity;
      return { ...ofClient, vertrouwelijkheid, bewaartermijn: null, verwerkingNaam: null };
    }
    // A line that arrives late must not reveal a present investigation.
    const isConfidential = [known, versies.at(-1)].some((versie) => versie?.vertrouwelijkheid === 'vertrouwelijk');
    if (isConfidential && !sender.mayBeConfidential)
      return 'deze verwerkingsactiviteit vraagt de scope create:confidential';
    const { bewaartermijn, naam: verwerkingNaam } = known;
    return {
      ...ofClient,
      verwerkingNaam,
      vertrouwelijkheid: isConfidential ? 'vertrouwelijk' : 'normaal',
      bewaartermijn: bewaartermijn !== null && isTerm(bewaartermijn) ? bewaartermijn : null,
    };
  }

  /** @throws {Problem} when far more would be stored than the request has: each line keeps the resource that it shares with others in it */
  return async ({ spans, unreadable, others }: ReadRequest, sender: LineSender, bytes: number) => {
    if (others.length > 0) otherContents.inc();
    const last = spans.reduce((most, { end }) => Math.max(most, Number(end / NS_PER_MS)), 0);
    const latest = BigInt(await actieLog.latestMoment(last)) * NS_PER_MS;
    const register = await readRegister(database.logPool, spans);
    const isIgnored = ({ isOther }: UnreadableSpan): boolean => isOther && otherSpans === 'ignore';
    const refusals: Refusal[] = unreadable.filter((one) => !isIgnored(one));
    const unstored = unreadable.filter(isIgnored).map(() => 'ignored');
    const lines: NewLine[] = [];
    let room = Math.max(FEW, bytes * KEPT_PER_BYTE);
    for (const sent of spans) {
      if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
      const line = sender.isPeer ? sent : withoutLogbooks(sent);
      const { traceId, spanId } = line;
      // It was forwarded from here: it is stored, or was removed since.
      if (logbooksOf(line).includes(publicBaseUrl())) {
        unstored.push('passed-before');
        continue;
      }
      const reason = judge(line, { otherSpans, plainBsn, checkBsn, latest });
      if (reason === IGNORED) {
        unstored.push('ignored');
        continue;
      }
      const context = reason ?? contextOf(line, register, sender);
      if (typeof context === 'string') {
        refusals.push({ traceId, spanId, reason: context });
        continue;
      }
      const span = withGuardedErrors(line);
      const client = clientOf(span, sender);
      const text = writeLine({ span, client });
      room -= text.length;
      if (room < 0) throw tooManySpans();
      if (text.length <= MAX_LINE) lines.push({ span, client, text, actie: actieOfSpan(span, context) });
      else refusals.push({ traceId, spanId, reason: `de regel heeft meer dan ${MAX_LINE} tekens` });
    }
    const stored = await store(lines, sender);
    for (const [i, { span }] of lines.entries())
      if (stored[i] === 'conflict') refusals.push({ traceId: span.traceId, spanId: span.spanId, reason: CONFLICT });
    received.inc({ outcome: 'refused' }, refusals.length);
    for (const outcome of [...unstored, ...stored]) if (outcome !== 'conflict') received.inc({ outcome });
    return answerOf(refusals, others, spans.length + unreadable.length);
  };
}

/** For a line that another logbook forwards, the owner is the logbook where it began: it may arrive by several routes. */
function clientOf(span: Span, { client, isPeer }: LineSender): string {
  const [first] = isPeer ? logbooksOf(span) : [];
  return first === undefined ? client : `logbook ${first}`;
}

async function readRegister(db: Db, spans: readonly Span[]): Promise<Register> {
  const ids = new Set(spans.flatMap((span) => activityIdIn(activityOf(span) ?? '') ?? []));
  return ids.size === 0 ? new Map() : await readActiviteitVersies(db, [...ids]);
}

/** A line from before its activity was first recorded uses the first version: a register is often filled later than its applications log. */
function validAt(versies: readonly ActiviteitVersie[], at: Date): ActiviteitVersie | undefined {
  const valid = versies.findLast(({ vanaf }) => vanaf <= at) ?? versies[0];
  return valid === undefined || valid.verwijderd ? undefined : valid;
}

/** @param others what the sender sent instead of spans @param found how many spans were found */
function answerOf(refusals: readonly Refusal[], others: readonly string[], found: number): ExportResponse {
  const messages: string[] = [];
  if (refusals.length > 0) {
    const named = refusals.slice(0, NAMED_REASONS).map(({ traceId, spanId, reason }) => {
      const trace = isId(traceId, 32) ? `trace ${traceId}, ` : '';
      return `${trace}span ${isId(spanId, 16) ? spanId : '(zonder geldig id)'}: ${reason}`;
    });
    const howMany = refusals.length === 1 ? '1 regel is geweigerd' : `${refusals.length} regels zijn geweigerd`;
    messages.push(howMany, ...named, ...(refusals.length > NAMED_REASONS ? ['en andere'] : []));
  }
  if (others.length > 0) {
    const named = `${others.slice(0, NAMED_REASONS).join(', ')}${others.length > NAMED_REASONS ? ' en andere' : ''}`;
    const what = found === 0 ? 'er zijn geen regels gevonden' : 'een deel is niet gelezen';
    messages.push(`${what}: in plaats van resourceSpans[].scopeSpans[].spans[] staat er ${named}`);
  }
  return { rejectedSpans: refusals.length, errorMessage: messages.join('; ') };
}
