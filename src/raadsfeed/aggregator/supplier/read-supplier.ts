import { type Db, transaction } from '../../../database/transaction.ts';
import { dayAfter, dutchDay } from '../../../lib/time.ts';
import type { Dependencies } from '../dependencies.ts';
import type { SourceTerms } from '../plan-sources.ts';
import { type Lease, parseSourceAddress, type SupplierScheme } from '../source.ts';
import { readBlock } from '../store/call-slots.ts';
import { compareAgain } from '../store/comparison.ts';
import { addIssues, resolveIssues, saveWindowIssues, WITHHELD } from '../store/issues.ts';
import { updateSource } from '../store/leased-source.ts';
import { claimOrganisation, saveFirstOrigin, saveOrigin, updateLastModified } from '../store/organisations.ts';
import { readItemsIn } from '../store/source-items.ts';
import {
  completeSince,
  type DueWindow,
  ensureWindows,
  measureReading,
  nextWindow,
  readMeetingsRead,
  readRound,
  saveCoverage,
  saveWindow,
} from '../store/windows.ts';
import { publishReading } from './publish-window.ts';
import type { SourceAdapter } from './read-listed-window.ts';
import {
  type AdapterSource,
  type DateWindow,
  type SourceIssue,
  type WindowRequest,
  withoutAbsent,
} from './source-adapter.ts';
import { SupplierFault } from './supplier-client.ts';
import { isRegisters, LAST_DAY, periodOf, REGISTERS, roundWindows } from './windows.ts';

/** One run of a supplier's source: reads and publishes the window that is due. */
export async function readSupplier(
  lease: Lease,
  deps: Dependencies,
  signal: AbortSignal,
): Promise<{ readonly inMs: number; readonly isStillFailing?: boolean }> {
  const { pool } = deps;
  const { id, failureKind } = lease.source;
  const of = supplierSource(lease.source, deps.adapters);
  // Checked also while nothing is due: a blocked source must not look healthy.
  const blocked = await readBlock(pool, of.scheme);
  if (blocked !== undefined) throw new SupplierFault('blocked', blocked);
  const { current } = await prepareWindows(lease, of, deps, false);
  const currentFrom = current.map(({ from }) => from);
  const due = await nextWindow(pool, id, currentFrom);
  // Registers may take no call, so they do not prove that the host answers.
  const isStillFailing = failureKind === 'no-answer' && (due === undefined || isRegisters(due));
  if (due === undefined) return { inMs: deps.quickAgainMs / 30, isStillFailing };
  const { issues } = await readOneWindow(lease, of, due, deps, { signal, allowMassDelete: false });
  assertAnswered(issues);
  return { inMs: 0, isStillFailing };
}

/** @throws {SupplierFault} `no-answer`: the source waits as after a failure, and others of its supplier continue */
export function assertAnswered(issues: readonly SourceIssue[]): void {
  const silence = issues.find(({ what }) => what === 'no-answer');
  if (silence !== undefined) throw new SupplierFault('no-answer', silence.detail);
}

export function windowsOf({ adapter, period }: SupplierSource, now: Date): ReturnType<typeof roundWindows> {
  const { all, current } = roundWindows(period.from, now, period.to);
  const registers = adapter.hasRegisters === true ? [REGISTERS] : [];
  return { all: [...registers, ...all], current: [...registers, ...current] };
}

/** Stores the windows of a source, and withdraws items outside its period when that was changed. */
export async function prepareWindows(
  lease: Lease,
  of: SupplierSource,
  deps: Dependencies,
  allowMassDelete: boolean,
): Promise<ReturnType<typeof roundWindows>> {
  const { pool, clock } = deps;
  const { id, adres, compareAgainAt } = lease.source;
  const windows = windowsOf(of, clock.now());
  await ensureWindows(pool, id, windows.all);
  if (!allowMassDelete && compareAgainAt !== null && compareAgainAt > clock.now()) return windows;
  const { from, to } = periodOf(lease.source.vanaf === null ? { to: of.period.to } : of.period);
  const outside = [{ from: '1000-01-01', to: dayAfter(from, -1) }];
  if (to !== LAST_DAY) outside.push({ from: dayAfter(to), to: LAST_DAY });
  const { organisatiecode } = of.source;
  let withheld = 0;
  for (const window of outside) {
    const known = await readItemsIn(pool, id, window);
    if (known.length === 0) continue;
    const removed = known.map(({ key }) => ({ key, verwijderreden: 'ingetrokken' as const }));
    const reading = { window, complete: true, removed, items: [], documents: [], hidden: [], underHidden: [] };
    const done = await publishReading(lease, reading, { organisatiecode, deletedBefore: 0, allowMassDelete }, deps);
    withheld += done.withheld;
  }
  if (withheld > 0 || compareAgainAt !== null) await compareAgain(pool, lease, withheld > 0);
  await addIssues(pool, id, withheldIssues(adres, withheld), clock.now());
  if (withheld === 0 && compareAgainAt !== null) await resolveIssues(pool, id, WITHHELD);
  return windows;
}

export async function readOneWindow(
  lease: Lease,
  of: SupplierSource,
  window: DueWindow,
  deps: Dependencies,
  { signal, allowMassDelete }: { readonly signal: AbortSignal; readonly allowMassDelete: boolean },
) {
  const { pool, clock } = deps;
  const { id } = lease.source;
  const { organisatiecode, naam } = of.source;
  const begun = clock.now();
  // The service document shows the origin before anything is published.
  const isOfToday = await claimOrganisation(pool, id, { organisatiecode, naam }, dutchDay(begun));
  if (isOfToday) await saveOrigin(pool, [{ organisatiecode, naam }], null);
  else await saveFirstOrigin(pool, organisatiecode, naam);
  const known = await readItemsIn(pool, id, window);
  const reading = await of.adapter.readWindow(requestOf(pool, id, of, window, { known, signal }));
  const deletedBefore = await readRound(pool, lease, deps.fullAgainMs);
  const done = await publishReading(lease, reading, { organisatiecode, deletedBefore, allowMassDelete }, deps);
  const issues = [...reading.issues, ...done.issues, ...withheldIssues(lease.source.adres, done.withheld)];
  // Read without an error and published whole, with nothing left for an operator.
  const complete = reading.complete && done.issues.length === 0 && done.withheld === 0;
  const coverage = await measureReading(pool, organisatiecode, reading, known);
  const { all, current } = windowsOf(of, clock.now());
  const timed = current.length > 0 ? current : all;
  const quickAgainMs = of.adapter.quickAgainMs ?? deps.quickAgainMs;
  const read = reading.documents.length + reading.items.reduce((sum, { records }) => sum + records.length, 0);
  await transaction(pool, async (client) => {
    await saveWindowIssues(client, id, { ...reading, issues }, begun);
    await saveCoverage(client, id, coverage, { window: reading.window, period: of.period });
    const { hasConfidential } = reading;
    const result = { ...window, complete, hasConfidential, withheld: done.withheld, ...deps, quickAgainMs };
    await saveWindow(client, id, result, begun);
    const firstDays = timed.map(({ from }) => from);
    const since = await completeSince(client, id, firstDays);
    if (since !== undefined && isOfToday) await updateLastModified(client, [{ organisatiecode, at: since }]);
    const caughtUp = since === undefined ? {} : { caughtUpAt: since };
    const counts = { read, refused: done.issues.length, deletedInRound: done.deleted };
    await updateSource(client, lease, caughtUp, counts);
  });
  if (!complete || coverage.percentage < 100) {
    const fields = { source: lease.source.adres, from: window.from, to: window.to, coverage: coverage.percentage };
    deps.log.warn({ ...fields, issues: issues.length }, 'a window is not complete');
  }
  const { published, deleted, withheld } = done;
  return { complete, read, published, deleted, withheld, issues, coverage };
}

function withheldIssues(source: string, withheld: number): SourceIssue[] {
  if (withheld === 0) return [];
  const detail = `${withheld} resources are not at the supplier any more; deleting so many needs an operator's consent: \`koppelvlak bron sync ${source} --allow-mass-delete\``;
  return [{ what: WITHHELD, where: 'deletes', detail, times: 1, blocking: true }];
}

export function requestOf(
  db: Db,
  sourceId: number,
  { source }: SupplierSource,
  { from, to, depth, completeAt }: DueWindow,
  { known, signal }: Pick<WindowRequest, 'known' | 'signal'>,
): WindowRequest {
  return {
    source,
    window: { from, to },
    depth,
    known,
    completeAt: completeAt ?? undefined,
    knownOn: (day) => readItemsIn(db, sourceId, { from: day, to: day }),
    meetings: () => readMeetingsRead(db, sourceId),
    // One for each window, because it counts failed calls.
    signal: AbortSignal.any([signal]),
  };
}

export interface SupplierSource {
  readonly scheme: SupplierScheme;
  readonly adapter: SourceAdapter;
  readonly source: AdapterSource;
  readonly period: DateWindow;
}

/** Earlier council information is hardly digital. */
const DEFAULT_FROM = '2010-01-01';

/** @throws {Error} for a feed */
export function supplierSource(
  { adres, organisatiecodes: [organisatiecode], naam, portaal, vanaf, tot, options = {} }: SourceTerms,
  adapters: Dependencies['adapters'],
): SupplierSource {
  const address = parseSourceAddress(adres);
  if (address?.kind !== 'leveranciers-api' || organisatiecode === undefined) {
    throw new Error(`${adres} is not a source of a supplier`);
  }
  const { scheme, organisationId } = address;
  const [from, to] = [vanaf ?? undefined, tot ?? undefined];
  return {
    scheme,
    adapter: adapters[scheme],
    period: periodOf({ from: from ?? DEFAULT_FROM, to }),
    source: {
      organisationId,
      organisatiecode,
      options,
      naam: naam ?? organisatiecode,
      ...withoutAbsent({ portaal: portaal ?? undefined }),
      period: withoutAbsent({ from, to }),
    },
  };
}
