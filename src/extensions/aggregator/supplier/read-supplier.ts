import { transaction } from '../../../database/transaction.ts';
import type { SupplierDependencies } from '../dependencies.ts';
import { type Lease, parseSourceAddress, type Source } from '../source.ts';
import { saveWindowIssues, WITHHELD } from '../store/issues.ts';
import { updateSource } from '../store/leased-source.ts';
import { saveOrigin, updateLastModified } from '../store/organisations.ts';
import { readItemsIn } from '../store/source-items.ts';
import {
  completeSince,
  type DueWindow,
  ensureWindows,
  nextWindow,
  readRound,
  saveCoverage,
  saveWindow,
} from '../store/windows.ts';
import { type Coverage, measureReading } from './coverage.ts';
import { publishReading } from './publish-window.ts';
import type { AdapterSource, SourceAdapter, SourceIssue } from './source-adapter.ts';
import { roundWindows } from './windows.ts';

/** The result of reading one window. */
interface WindowOutcome {
  /** Read without an error, published as a whole, and nothing waits for an operator. */
  readonly complete: boolean;
  readonly read: number;
  readonly published: number;
  readonly deleted: number;
  readonly withheld: number;
  readonly issues: readonly SourceIssue[];
  readonly coverage: Coverage;
}

/** One run of a supplier's source: reads the window that is due, and publishes it. */
export async function readSupplier(
  lease: Lease,
  deps: SupplierDependencies,
  signal: AbortSignal,
): Promise<{ inMs: number }> {
  const { pool, clock } = deps;
  const { id } = lease.source;
  const of = supplierSource(lease.source, deps.adapters);
  const { all, current } = roundWindows(of.from, clock.now());
  await ensureWindows(pool, id, all);
  const currentFrom = current.map(({ from }) => from);
  const due = await nextWindow(pool, id, currentFrom);
  if (due === undefined) return { inMs: deps.quickAgainMs / 30 };
  await readOneWindow(lease, of, due, deps, { signal, allowMassDelete: false });
  return { inMs: 0 };
}

/** Reads one window, publishes it, and measures what the feed has of it. */
export async function readOneWindow(
  lease: Lease,
  of: SupplierSource,
  window: DueWindow,
  deps: SupplierDependencies,
  { signal, allowMassDelete }: { readonly signal: AbortSignal; readonly allowMassDelete: boolean },
): Promise<WindowOutcome> {
  const { pool, clock } = deps;
  const { id } = lease.source;
  const { organisatiecode, naam } = of.source;
  // The service document shows the origin of the organisation before anything of it is published.
  await saveOrigin(pool, [{ organisatiecode, naam }], { soort: 'leveranciers-api' });
  const begun = clock.now();
  const known = await readItemsIn(pool, id, window);
  const reading = await of.adapter.readWindow({ source: of.source, window, depth: window.depth, known, signal });
  const deletedBefore = await readRound(pool, lease, deps.fullAgainMs);
  const done = await publishReading(lease, reading, { organisatiecode, deletedBefore, allowMassDelete }, deps);
  const issues = [...reading.issues, ...done.issues, ...withheldIssues(lease.source.adres, done.withheld)];
  const complete = reading.complete && done.issues.length === 0 && done.withheld === 0;
  const coverage = await measureReading(pool, organisatiecode, reading, known);
  const current = roundWindows(of.from, clock.now()).current.map(({ from }) => from);
  const read = reading.documents.length + reading.items.reduce((sum, { records }) => sum + records.length, 0);
  await transaction(pool, async (client) => {
    await saveWindowIssues(client, id, { ...reading, issues }, begun);
    await saveCoverage(client, id, coverage, reading.window, begun);
    await saveWindow(client, id, { ...window, complete, withheld: done.withheld, ...deps }, begun);
    const since = await completeSince(client, id, current);
    if (since !== undefined) {
      await updateLastModified(client, [{ organisatiecode, at: since }]);
    }
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

/** A source of a supplier with the adapter that reads it. */
interface SupplierSource {
  readonly adapter: SourceAdapter;
  readonly source: AdapterSource;
  /** First day that is read. */
  readonly from: string;
}

/** Council information of before is hardly anywhere in digital form. */
const DEFAULT_FROM = '2010-01-01';

/** @throws {Error} when no adapter of this service reads it */
export function supplierSource(source: Source, adapters: SupplierDependencies['adapters']): SupplierSource {
  const address = parseSourceAddress(source.adres);
  const [organisatiecode] = source.organisatiecodes;
  const adapter = address?.kind === 'leveranciers-api' ? adapters[address.scheme] : undefined;
  if (address?.kind !== 'leveranciers-api' || adapter === undefined || organisatiecode === undefined) {
    throw new Error(`no adapter reads ${source.adres}`);
  }
  return {
    adapter,
    from: source.vanaf ?? DEFAULT_FROM,
    source: {
      organisationId: address.organisationId,
      organisatiecode,
      naam: source.naam ?? organisatiecode,
      options: source.options,
      ...(source.portaal === null ? {} : { portaal: source.portaal }),
    },
  };
}
