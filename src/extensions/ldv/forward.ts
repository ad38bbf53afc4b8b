/**
 * Gives new actions on to another logbook: at least once, in order, by one process at a time. The queue in the database is filled by the
 * statement that stores an action, and emptied here when the other logbook has answered.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge } from 'prom-client';
import type { Pool } from '../../database/pool.ts';
import { backoffMs } from '../../lib/outbound/outbound-client.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { newTraceContext, traceHeaders } from '../../lib/trace-context.ts';
import type { OperatorSection, Platform, ReadinessCheck, ReadinessResult } from '../../platform.ts';
import { type IdentityKeys, UnknownKeyError } from '../../verwerkingenlog/domain/identity-keys.ts';
import { hasLargeInteger, isTime, type Span } from '../../verwerkingenlog/domain/ldv-span.ts';
import { revealWithinBudget } from '../../verwerkingenlog/store/versions.ts';
import { ldvLinesOf, logbookId, passedOn } from './face.ts';
import { createForwardClient, type ForwardClient, ForwardError, plainReason } from './forward-client.ts';
import type { ExportResponse } from './otlp.ts';
import {
  type ForwardIssue,
  type ForwardLease,
  ForwardLeaseLostError,
  type ForwardState,
  finishForwarding,
  type QueuedActie,
  readFirstVersies,
  readForwardQueue,
  readForwardState,
  recordForwardFailure,
  releaseForwardLease,
  renewForwardLease,
  takeForwardLease,
} from './store/forward-queue.ts';

/** Lines that are made and sent together, unless one action has more. */
const MAX_SPANS = 5000;
/** How often an empty queue is read, and a lease of others is tried for. */
const POLL_MS = 500;
const STATE_EVERY_MS = 5000;
const FIRST_WAIT_MS = 500;

/** An action and its lines. */
interface Line {
  readonly actieId: string;
  readonly span: Span;
}

export interface Forwarder {
  readonly check: ReadinessCheck;
  /** For the operator's page. */
  readonly section: OperatorSection;
  start(): void;
  stop(): Promise<void>;
}

interface ForwarderOptions {
  readonly platform: Platform;
  readonly keys: IdentityKeys;
  /** Address of the other logbook. */
  readonly address: string;
  /** Address of the mount of area B. */
  readonly base: () => string;
}

export function createForwarder({ platform, keys, address, base }: ForwarderOptions): Forwarder {
  const { config, pool, log, clock } = platform;
  const { ldvOut } = config;
  const client = createForwardClient(config, clock, address);
  const metrics = createMetrics(platform);
  const holder = randomUUID();
  const leaseSeconds = Math.ceil((2 * ldvOut.forwardTimeoutMs) / 1000) + 2;
  const backoff = { firstMs: FIRST_WAIT_MS, maxMs: ldvOut.forwardBackoffMaxSeconds * 1000 };
  const stopped = new AbortController();
  const signal = AbortSignal.any([platform.stopping, stopped.signal]);
  const own = (): string => logbookId(config, platform.publicBaseUrl);

  let renewedAt = 0;
  async function renew(lease: ForwardLease): Promise<void> {
    await renewForwardLease(pool, lease, leaseSeconds);
    renewedAt = performance.now();
  }

  /** Sends and takes off the queue what stands first in it. @returns whether there was anything */
  async function forwardBatch(lease: ForwardLease): Promise<boolean> {
    const batch = withinSpans(await readForwardQueue(pool, ldvOut.forwardBatch));
    if (batch.length === 0) {
      if (performance.now() - renewedAt > (leaseSeconds * 1000) / 3) await renew(lease);
      return false;
    }
    await renew(lease);
    const { lines, issues } = await linesOf(platform, batch, keys, base(), ldvOut.forwardConfidential);
    const passed = lines.map(({ actieId, span }) => ({ actieId, span: passedOn(span, own()) }));
    const send = createSender({
      client,
      headers: traceOfBatch(batch),
      signal,
      // Each request begins with a whole lease, so that no other process begins while it is under way.
      before: () => renew(lease),
    });
    const refused = await send(passed);
    const refusedLines = refused.reduce((sum, { aantal = 1 }) => sum + aantal, 0);
    const sent = Math.max(0, passed.length - refusedLines);
    const all = [...issues, ...refused];
    await finishForwarding(pool, lease, { volgnummers: batch.map(({ volgnummer }) => volgnummer), sent, issues: all });
    metrics.sent.inc(sent);
    if (all.length > 0) log.warn({ issues: all.length, refused: refusedLines }, 'not all actions could be given on');
    return true;
  }

  /** Works as long as this process has the lease. */
  async function work(lease: ForwardLease): Promise<void> {
    let failures = lease.failures;
    await sleep(Math.min(lease.waitMs, (leaseSeconds * 1000) / 2), undefined, { signal });
    // The rest of a long wait is for whoever has the lease then.
    if (lease.waitMs > (leaseSeconds * 1000) / 2) return;
    while (!signal.aborted) {
      try {
        const found = await forwardBatch(lease);
        failures = 0;
        if (!found) await sleep(POLL_MS, undefined, { signal });
      } catch (error) {
        if (!(error instanceof ForwardError)) throw error;
        failures += 1;
        const waitMs = backoffMs(backoff, failures, error.retryAfterMs);
        metrics.failures.inc();
        log.warn({ err: error, failures, waitMs }, 'actions could not be given on and will be tried again');
        await recordForwardFailure(pool, lease, { reason: error.message, waitMs });
        if (waitMs > (leaseSeconds * 1000) / 2) return;
        await sleep(waitMs, undefined, { signal });
      }
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let lease: ForwardLease | undefined;
      try {
        lease = await takeForwardLease(pool, holder, leaseSeconds);
        if (lease !== undefined) await work(lease);
        else await sleep(POLL_MS, undefined, { signal });
      } catch (error) {
        if (!signal.aborted && !(error instanceof ForwardLeaseLostError)) {
          metrics.failures.inc();
          log.warn({ err: error }, 'giving actions on was interrupted and will go on');
          await sleep(2 * POLL_MS, undefined, { signal }).catch(() => undefined);
        }
      } finally {
        if (lease !== undefined) await releaseForwardLease(pool, lease).catch(() => undefined);
      }
    }
  }

  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const showState = (): void => {
    // While the database is unavailable, its own readiness check says so, and the last known state stands.
    readForwardState(pool).then(metrics.show, () => undefined);
  };
  return {
    check: {
      name: 'ldv forwarding',
      vital: false,
      check: () => checkState(pool, metrics.show, ldvOut.forwardLagSeconds),
    },
    section: {
      title: 'Actions given on to the other logbook',
      read: async () => tableOf(await readForwardState(pool)),
    },
    start() {
      running ??= run();
      timer ??= setInterval(showState, STATE_EVERY_MS).unref();
      showState();
    },
    async stop() {
      stopped.abort();
      clearInterval(timer);
      await running;
      await client.close();
    },
  };
}

async function checkState(
  pool: Pool,
  show: (state: ForwardState) => void,
  lagSeconds: number,
): Promise<ReadinessResult> {
  const state = await readForwardState(pool);
  show(state);
  const { pending, oldestSeconds, failure, failingSince } = state;
  if (oldestSeconds <= lagSeconds) return { ok: true };
  const reason = failure === null ? '' : `; failing since ${failingSince?.toISOString()}: ${failure}`;
  const age = `the first for ${Math.round(oldestSeconds)} seconds`;
  return { ok: true, warning: `${pending} actions wait to be given on, ${age}${reason}` };
}

function tableOf({
  pending,
  oldestSeconds,
  sent,
  issues,
  failure,
  failingSince,
}: ForwardState): Awaited<ReturnType<OperatorSection['read']>> {
  const refused = Object.values(issues).reduce((sum, count) => sum + count, 0);
  const fault = failure === null ? '' : `${failure} (since ${failingSince?.toISOString() ?? 'unknown'})`;
  return {
    columns: ['actions that wait', 'the first for', 'lines given on', 'not given on', 'last fault'],
    rows: [[pending, `${Math.round(oldestSeconds)} s`, sent, refused, fault]],
  };
}

/** The first actions that become at most so many lines together; at least one. */
function withinSpans(queue: readonly QueuedActie[]): readonly QueuedActie[] {
  let spans = 0;
  const end = queue.findIndex((one, i) => {
    spans += one.spans;
    return i > 0 && spans > MAX_SPANS;
  });
  return end === -1 ? queue : queue.slice(0, end);
}

/** The trace of the request that all of them came with; of several requests, a trace of this sending. */
function traceOfBatch(batch: readonly QueuedActie[]): Record<string, string> {
  const [first] = batch;
  const isOne = batch.every(({ traceparent }) => traceparent === first?.traceparent);
  if (!isOne || first === undefined || first.traceparent === null) return traceHeaders(newTraceContext());
  const { traceparent, tracestate } = first;
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

/**
 * The lines of the first versions, and what is not sent. An action that was made confidential or was deleted while it waited stays here,
 * for what the other logbook has cannot be changed.
 */
async function linesOf(
  { pool, log }: Pick<Platform, 'pool' | 'log'>,
  batch: readonly QueuedActie[],
  keys: IdentityKeys,
  base: string,
  confidential: boolean,
): Promise<{ lines: Line[]; issues: ForwardIssue[] }> {
  const issues: ForwardIssue[] = [];
  const wanted = batch.filter(({ actieId, bestaat, vervallen, vertrouwelijk }) => {
    const isWithheld = vervallen || (vertrouwelijk && !confidential);
    if (!bestaat) issues.push({ soort: 'verdwenen', actieId, reden: 'removed after its retention term' });
    else if (isWithheld)
      issues.push({ soort: 'ingehouden', actieId, reden: vervallen ? 'deleted since' : 'made confidential since' });
    return bestaat && !isWithheld;
  });
  const versies = await readFirstVersies(
    pool,
    wanted.map(({ actieId }) => actieId),
  );
  const lines: Line[] = [];
  for (const { actieId } of wanted) {
    const stored = versies.get(actieId);
    if (stored === undefined) {
      issues.push({ soort: 'verdwenen', actieId, reden: 'its first version is not there' });
      continue;
    }
    if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
    // One that cannot be read or sent does not hold up the others.
    try {
      const own = ldvLinesOf(await revealWithinBudget(stored, keys), base);
      const reden = unsendable(own);
      if (reden === undefined) for (const span of own) lines.push({ actieId, span });
      else issues.push({ soort: 'onverzendbaar', actieId, reden });
    } catch (error) {
      // Another instance may have the key, or this one gets it: nothing is wrong with the action.
      if (error instanceof UnknownKeyError) throw error;
      log.error({ err: error, actieId }, 'an action cannot be read and is not forwarded');
      issues.push({ soort: 'onleesbaar', actieId, reden: 'it cannot be read: the log of the service says why' });
    }
  }
  return { lines, issues };
}

/** Why OTLP cannot say what these lines say: it would send other times and numbers, without a word. */
function unsendable(spans: readonly Span[]): string | undefined {
  if (!spans.every(({ start, end }) => isTime(start) && isTime(end)))
    return 'its time is outside the years 1970 to 2554, which nanoseconds of 64 bits hold';
  return spans.some(hasLargeInteger) ? 'an integer in it does not fit in 64 bits' : undefined;
}

interface SenderOptions {
  readonly client: ForwardClient;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly before: () => Promise<void>;
}

/** Sends lines in order; in halves when they are too many for the other logbook, or one of them makes it refuse the whole request. */
function createSender({ client, headers, signal, before }: SenderOptions) {
  const send = async (lines: readonly Line[]): Promise<ForwardIssue[]> => {
    if (lines.length === 0) return [];
    if (lines.length > MAX_SPANS) return await sendHalves(lines, MAX_SPANS);
    await before();
    try {
      const spans = lines.map(({ span }) => span);
      return refusedOf(lines, await client.send(spans, headers, signal));
    } catch (error) {
      if (!(error instanceof ForwardError) || !error.isFinal) throw error;
      if (lines.length > 1) return await sendHalves(lines, Math.ceil(lines.length / 2));
      return lines.map(({ actieId, span }) => ({
        soort: 'geweigerd',
        actieId,
        spanId: span.spanId,
        reden: plainReason(error.message),
      }));
    }
  };
  const sendHalves = async (lines: readonly Line[], size: number): Promise<ForwardIssue[]> => {
    const issues: ForwardIssue[] = [];
    for (let from = 0; from < lines.length; from += size) issues.push(...(await send(lines.slice(from, from + size))));
    return issues;
  };
  return send;
}

/**
 * What the other logbook refused. It names how many and the first reasons, and the protocol forbids to send them again: those that it does
 * not name are remembered as a number of the actions of the request.
 */
function refusedOf(lines: readonly Line[], { rejectedSpans: said, errorMessage }: ExportResponse): ForwardIssue[] {
  const rejectedSpans = Math.min(said, lines.length);
  if (rejectedSpans <= 0) return [];
  const reden = plainReason(errorMessage);
  const mentioned = new Set(errorMessage.match(/(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/g) ?? []);
  const isAll = rejectedSpans >= lines.length;
  const named = lines.filter(({ span }) => isAll || mentioned.has(span.spanId)).slice(0, rejectedSpans);
  const issues: ForwardIssue[] = named.map(({ actieId, span }) => ({
    soort: 'geweigerd',
    actieId,
    spanId: span.spanId,
    reden,
  }));
  const rest = rejectedSpans - named.length;
  if (rest === 0) return issues;
  const isNamed = new Set(named);
  const acties = [...new Set(lines.filter((line) => !isNamed.has(line)).map(({ actieId }) => actieId))];
  return [...issues, { soort: 'geweigerd', actieId: null, acties, aantal: rest, reden }];
}

/** Set when the state is read, for metrics must be there when the database is not. */
function createMetrics({ metrics }: Platform) {
  const registers = [metrics];
  const pending = new Gauge({
    name: 'koppelvlak_ldv_forward_pending',
    help: 'Actions that wait to be given on to the other logbook',
    registers,
  });
  const lag = new Gauge({
    name: 'koppelvlak_ldv_forward_lag_seconds',
    help: 'How long the first of them has waited',
    registers,
  });
  const issues = new Gauge({
    name: 'koppelvlak_ldv_forward_issues',
    help: 'What the other logbook does not have as it is here, by kind: `koppelvlak log forward-issues` lists them',
    labelNames: ['kind'],
    registers,
  });
  return {
    sent: new Counter({
      name: 'koppelvlak_ldv_forward_sent_total',
      help: 'Lines that this process has given on',
      registers,
    }),
    failures: new Counter({
      name: 'koppelvlak_ldv_forward_failures_total',
      help: 'How often forwarding failed in this process and is tried again, whatever the cause',
      registers,
    }),
    show(state: ForwardState): void {
      pending.set(state.pending);
      lag.set(state.oldestSeconds);
      for (const [kind, count] of Object.entries(state.issues)) issues.set({ kind }, count);
    },
  };
}
