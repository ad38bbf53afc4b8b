/**
 * Forwards new actions to another logbook: at least once, in order, by one process at a time. The statement that stores an action fills the queue in
 * the database; a batch is sent in a transaction that locks the state of forwarding, and is removed from the queue once it was acknowledged.
 */
import type { FastifyInstance } from 'fastify';
import { Counter } from 'prom-client';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { backoffMs } from '../../lib/time.ts';
import { newTraceContext, traceHeaders } from '../../lib/trace-context.ts';
import { createGauges } from '../../plugins/metrics.ts';
import { repeatWork } from '../../plugins/repeated-work.ts';
import { mountAddress } from '../../plugins/requests.ts';
import { reveal, UnknownKeyError } from '../domain/encryption.ts';
import { createForwardClient, ForwardError, plainReason } from './forward-client.ts';
import { forwarded, spansOf } from './mapping.ts';
import type { ExportResponse } from './otlp.ts';
import { hasLargeInteger, isTime, type Span } from './span.ts';
import {
  beginForwarding,
  type ForwardIssue,
  finishForwarding,
  type QueuedActie,
  readFirstVersies,
  readForwardQueue,
  readForwardState,
  recordForwardFailure,
} from './store/forward-queue.ts';

/** Lines that are made and sent together, unless one action has more. */
const MAX_SPANS = 5000;
/** Interval for reading a queue that is empty, waits after a failure, or is emptied by another process. */
const POLL_MS = 500;
const FIRST_WAIT_MS = 500;

interface Line {
  readonly actieId: string;
  readonly span: Span;
}

/** @param address of the other logbook @param pool holds one connection while lines are sent */
export function startForwarding(app: FastifyInstance, address: string, pool: Pool): void {
  const { settings, log: logger, publicBaseUrl, stopping } = app;
  const { ldvOut } = settings;
  const base = mountAddress(app, settings.verwerkingenlog.prefix);
  const client = createForwardClient(settings, app.clock, address);
  const counter = (name: string, help: string) =>
    new Counter({ name: `koppelvlak_ldv_forward_${name}_total`, help, registers: [app.metrics] });
  const sentLines = counter('sent', 'Lines that this process has forwarded');
  const failed = counter('failures', 'How often forwarding failed in this process and is retried, whatever the cause');
  // Another process takes over after this time of silence, which is longer than a request may take.
  const silenceMs = 2 * ldvOut.forwardTimeoutMs + 2000;
  const backoff = { firstMs: FIRST_WAIT_MS, maxMs: ldvOut.forwardBackoffMaxSeconds * 1000 };

  async function forwardBatch(db: Db): Promise<void> {
    const batch = withinSpans(await readForwardQueue(db, ldvOut.forwardBatch));
    const { lines, issues } = await linesOf(db, app, base(), batch);
    const headers = traceOfBatch(batch);
    const refused = await sendAll(lines, async (part) => {
      // Ends the silence, and fails when the database has ended the transaction: then another process may be sending.
      await db.query('select 1');
      const spans = part.map(({ span }) => forwarded(span, publicBaseUrl()));
      return client.send(spans, headers, stopping);
    });
    issues.push(...refused);
    const refusedLines = refused.reduce((sum, { aantal = 1 }) => sum + aantal, 0);
    const sent = Math.max(0, lines.length - refusedLines);
    await finishForwarding(db, { positions: batch.map(({ position }) => position), sent, issues });
    sentLines.inc(sent);
    if (issues.length > 0)
      logger.warn({ issues: issues.length, refused: refusedLines }, 'not all actions could be forwarded');
  }

  async function step(): Promise<'changed' | 'done'> {
    if (stopping.aborted) return 'done';
    return await transaction(pool, async (db) => {
      const begun = await beginForwarding(db, silenceMs);
      if (begun === undefined) return 'done';
      try {
        await forwardBatch(db);
        return 'changed';
      } catch (error) {
        if (!(error instanceof ForwardError)) throw error;
        const failures = begun.failures + 1;
        const waitMs = backoffMs(backoff, failures, error.retryAfterMs);
        failed.inc();
        logger.warn({ err: error, failures, waitMs }, 'actions could not be forwarded; forwarding will be retried');
        await recordForwardFailure(db, error.message, waitMs);
        return 'done';
      }
    });
  }

  app.readiness.push({
    name: 'ldv forwarding',
    vital: false,
    check: async () => {
      const { pending, oldestSeconds, failure, failingSince } = await readForwardState(pool);
      if (oldestSeconds <= ldvOut.forwardLagSeconds) return { ok: true };
      const reason = failure === null ? '' : `; failing since ${failingSince?.toISOString()}: ${failure}`;
      const age = `the first for ${Math.round(oldestSeconds)} seconds`;
      return { ok: true, warning: `${pending} actions wait to be forwarded, ${age}${reason}` };
    },
  });
  app.operatorPage.push({
    title: 'Forwarding to the other logbook',
    read: async () => {
      const { pending, oldestSeconds, sent, issues, failure, failingSince } = await readForwardState(pool);
      const refused = Object.values(issues).reduce((sum, count) => sum + count, 0);
      const fault = failure === null ? '' : `${failure} (since ${failingSince?.toISOString() ?? 'unknown'})`;
      return {
        columns: ['actions that wait', 'the first for', 'lines forwarded', 'not forwarded', 'last fault'],
        rows: [[pending, `${Math.round(oldestSeconds)} s`, sent, refused, fault]],
      };
    },
  });
  const gauge = createGauges(app.metrics, 'ldv_forward', () => readForwardState(pool));
  gauge('pending', 'Actions that wait to be forwarded to the other logbook', (pending, state) => {
    pending.set(state.pending);
  });
  gauge('lag_seconds', 'How long the first of them has waited', (lag, state) => lag.set(state.oldestSeconds));
  gauge(
    'issues',
    'Differences between the other logbook and this one, by kind: `koppelvlak log forward-issues` lists them',
    (issues, state) => {
      for (const [kind, count] of Object.entries(state.issues)) issues.set({ kind }, count);
    },
    ['kind'],
  );
  app.addHook('onClose', client.close);
  repeatWork(app, {
    everyMs: POLL_MS,
    failure: 'forwarding was interrupted and will continue',
    step: () =>
      step().catch((error: unknown) => {
        if (!stopping.aborted) failed.inc();
        throw error;
      }),
  });
}

function withinSpans(queue: readonly QueuedActie[]): readonly QueuedActie[] {
  let spans = 0;
  return queue.filter((one, i) => {
    spans += one.spans;
    return i === 0 || spans <= MAX_SPANS;
  });
}

/** The trace of the request that they all came with; for several requests, a trace of this sending. */
function traceOfBatch(batch: readonly QueuedActie[]): Record<string, string> {
  const { traceparent = null, tracestate = null } = batch[0] ?? {};
  if (traceparent === null || batch.some((other) => other.traceparent !== traceparent))
    return traceHeaders(newTraceContext());
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

/** An action that was made confidential or deleted while it waited stays here, because the other logbook cannot change its lines. */
async function linesOf(
  db: Db,
  { settings, log: logger, actieLog: { keys } }: FastifyInstance,
  base: string,
  batch: readonly QueuedActie[],
): Promise<{ lines: Line[]; issues: ForwardIssue[] }> {
  const ids = batch.map(({ actieId }) => actieId);
  const versies = await readFirstVersies(db, ids);
  const lines: Line[] = [];
  const issues: ForwardIssue[] = [];
  for (const { actieId, vervallen, vertrouwelijk } of batch) {
    const leaveOut = (soort: ForwardIssue['soort'], reden: string): void => void issues.push({ soort, actieId, reden });
    const stored = versies.get(actieId);
    if (stored === undefined) leaveOut('verdwenen', 'removed after its retention term');
    else if (vervallen) leaveOut('ingehouden', 'deleted since');
    else if (vertrouwelijk && !settings.ldvOut.forwardConfidential) leaveOut('ingehouden', 'made confidential since');
    else {
      if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
      // An action that cannot be read or sent does not hold up the others.
      try {
        const own = spansOf(await reveal(stored, keys), base);
        const reason = unsendable(own);
        if (reason !== undefined) leaveOut('onverzendbaar', reason);
        else for (const span of own) lines.push({ actieId, span });
      } catch (error) {
        // Another instance may have the key, or this one may get it: the action is not at fault.
        if (error instanceof UnknownKeyError) throw error;
        logger.error({ err: error, actieId }, 'an action cannot be read and is not forwarded');
        leaveOut('onleesbaar', 'it cannot be read: the log of the service says why');
      }
    }
  }
  return { lines, issues };
}

/** Why OTLP cannot represent these lines: it would silently send other times and numbers. */
function unsendable(spans: readonly Span[]): string | undefined {
  if (!spans.every(({ start, end }) => isTime(start) && isTime(end)))
    return 'its time is outside the years 1970 to 2554, which nanoseconds of 64 bits hold';
  return spans.some(hasLargeInteger) ? 'an integer in it does not fit in 64 bits' : undefined;
}

/** Sends lines in order; in halves when they are too many for the other logbook, or one of them makes it refuse the whole request. */
async function sendAll(
  lines: readonly Line[],
  send: (lines: readonly Line[]) => Promise<ExportResponse>,
): Promise<ForwardIssue[]> {
  const [first] = lines;
  if (first === undefined) return [];
  try {
    return refusedOf(lines, await send(lines));
  } catch (error) {
    if (!(error instanceof ForwardError) || !error.isFinal) throw error;
    if (lines.length === 1) return [refusal(first, plainReason(error.message))];
    const half = Math.ceil(lines.length / 2);
    return [...(await sendAll(lines.slice(0, half), send)), ...(await sendAll(lines.slice(half), send))];
  }
}

function refusal({ actieId, span: { spanId } }: Line, reden: string): ForwardIssue {
  return { soort: 'geweigerd', actieId, spanId, reden };
}

/** The protocol forbids sending refused lines again. Those that the other logbook does not name are a number of the actions of the request. */
function refusedOf(lines: readonly Line[], { rejectedSpans, errorMessage }: ExportResponse): ForwardIssue[] {
  const refused = Math.min(rejectedSpans, lines.length);
  if (refused <= 0) return [];
  const reden = plainReason(errorMessage);
  const mentioned = new Set(errorMessage.match(/(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/g));
  const isNamed = ({ span }: Line): boolean => refused === lines.length || mentioned.has(span.spanId);
  const named = new Set(lines.filter(isNamed).slice(0, refused));
  const issues = [...named].map((line) => refusal(line, reden));
  if (named.size === refused) return issues;
  const acties = [...new Set(lines.filter((line) => !named.has(line)).map(({ actieId }) => actieId))];
  return [...issues, { soort: 'geweigerd', actieId: null, acties, aantal: refused - named.size, reden }];
}
