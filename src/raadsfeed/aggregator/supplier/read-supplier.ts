import { transaction } from '../../../kernel/database/transaction.ts';
import { quarters } from '../../notubiz/windows.ts';
import { type Coverage, measureCoverage } from '../measure-coverage.ts';
import type { AggregatorNeeds } from '../needs.ts';
import type { Lease } from '../source.ts';
import type { DateWindow, KnownPlace, SourceAdapter, WindowReading } from '../source-adapter.ts';
import { saveCoverage } from '../store/coverage.ts';
import { readHeldKeys } from '../store/current-data.ts';
import { rereadLease } from '../store/leases.ts';
import { noteCaughtUp } from '../store/organisations.ts';
import { readPlacesInWindow } from '../store/places.ts';
import { completeSince, type DueWindow, ensureWindows, nextWindow, untilNextWindow } from '../store/windows.ts';
import { type PublishedWindow, publishWindow } from './publish-window.ts';
import { type SupplierSource, supplierSource } from './supplier-source.ts';

export interface SupplierNeeds extends AggregatorNeeds {
  readonly adapters: readonly SourceAdapter[];
  /** Milliseconds between quick readings of the current windows. */
  readonly quickAgainMs: number;
  /** Milliseconds in which all of history is read again. */
  readonly fullAgainMs: number;
}

const DAY_MS = 86_400_000;
/** Windows that reach to within so many days before today are current. */
const CURRENT_DAYS = 31;
/** How far ahead meetings are looked for. */
const AHEAD_DAYS = 366;

export function currentFrom(now: Date): string {
  return day(now.getTime() - CURRENT_DAYS * DAY_MS);
}

/** The windows from a first day, or between two days. */
export function windowsOf(
  from: string,
  now: Date,
  to = day(now.getTime() + AHEAD_DAYS * DAY_MS),
): readonly DateWindow[] {
  return quarters({ from, to });
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** One turn at a source of a supplier: reads the window that is due, and publishes it. */
export async function readSupplier(lease: Lease, needs: SupplierNeeds, signal: AbortSignal): Promise<{ inMs: number }> {
  const { pool, clock } = needs;
  const { id } = lease.source;
  const of = supplierSource(lease.source, needs.adapters);
  const from = currentFrom(clock.now());
  await ensureWindows(pool, id, windowsOf(of.from, clock.now()));
  const due = await nextWindow(pool, id, from);
  if (due !== undefined) await readOneWindow(lease, of, due, needs, { signal, allowMassDelete: false });
  return { inMs: await untilNextWindow(pool, id, from) };
}

/** Reads one window, publishes what it came to and measures what the feed has of it. */
export async function readOneWindow(
  lease: Lease,
  of: SupplierSource,
  window: DueWindow,
  needs: SupplierNeeds,
  { signal, allowMassDelete }: { readonly signal: AbortSignal; readonly allowMassDelete: boolean },
): Promise<PublishedWindow & { readonly coverage: Coverage }> {
  const { pool, clock, log } = needs;
  const { source } = lease;
  const from = currentFrom(clock.now());
  const { reading, known } = await askWindow(lease, of, window, needs, signal);
  const result = await publishWindow(lease, of, { reading, known }, { ...needs, currentFrom: from }, allowMassDelete);
  const coverage = await measure(of, [reading], known, needs);
  await transaction(pool, async (client) => {
    await saveCoverage(client, source.id, window, coverage.months, clock.now());
    const since = await completeSince(client, source.id, from);
    if (since !== undefined) await noteCaughtUp(client, source.id, since);
  });
  if (!result.complete || coverage.percentage < 100) {
    log.warn(
      { source: source.adres, ...window, coverage: coverage.percentage, issues: reading.issues.length },
      'a window is not complete',
    );
  }
  return { ...result, coverage };
}

/** Reads one window, and nothing more. */
export async function askWindow(
  lease: Lease,
  of: SupplierSource,
  { from, to, depth }: DueWindow,
  { pool }: SupplierNeeds,
  signal: AbortSignal,
): Promise<{ reading: WindowReading; known: readonly KnownPlace[] }> {
  const known = await readPlacesInWindow(pool, lease.source.id, { from, to });
  const reading = await of.adapter.readWindow({ source: of.source, window: { from, to }, depth, known, signal });
  // Reading takes minutes: who lost the source meanwhile need not begin to publish.
  await rereadLease(pool, lease);
  return { reading, known };
}

/** What the feed has of what the supplier shows. */
export async function measure(
  of: SupplierSource,
  readings: readonly WindowReading[],
  known: readonly KnownPlace[],
  { pool }: Pick<SupplierNeeds, 'pool'>,
): Promise<Coverage> {
  const parts = [...readings.flatMap(({ places }) => places), ...known].flatMap((place) => place.parts);
  const held = await readHeldKeys(pool, of.source.organisatiecode, parts);
  return measureCoverage(readings, known, (key) => held.has(key));
}
