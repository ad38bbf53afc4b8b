/**
 * One turn at a source that is a feed: its service document when it is time, then pages of its snapshot, then of its feed, until its
 * end or the end of the turn. Whatever is believed is published in the transaction that remembers how far it was read.
 */
import { FeedFault, type FeedFaultCode } from '../../feed-client/feed-fault.ts';
import { transaction } from '../../kernel/database/transaction.ts';
import type { Removal } from '../../raadsfeed/domain/change.ts';
import { publishBatch } from '../../raadsfeed/store/publish-batch.ts';
import { BATCH_CHANGES } from '../../raadsfeed/writer/publisher.ts';
import type { AggregatorNeeds } from '../dependencies.ts';
import type { Lease, Source } from '../source.ts';
import { countGone, endComparison, findGone } from '../store/comparison.ts';
import { addIssues, hasRefused, resolveRefusals } from '../store/issues.ts';
import { rereadLease } from '../store/leases.ts';
import {
  noteCaughtUp,
  noteNothingToRead,
  type OwnedOrganisation,
  readOwnedOrganisations,
  touchSourceOrganisations,
} from '../store/organisations.ts';
import { countPublished, giveUpHistory, restartHistory, restartSnapshot } from '../store/progress.ts';
import { describeFailure } from '../worker.ts';
import { readDocument } from './read-document.ts';
import { type PageNeeds, type PageOutcome, readPage } from './read-page.ts';
import { cleanFiles } from './redactions.ts';

export interface TurnOptions {
  readonly signal: AbortSignal;
  /** Pages of one turn; then others get theirs. */
  readonly maxPages: number;
  /** Refused records do not hold up the page that they are on: it was tried before. */
  readonly tolerant: boolean;
}

interface TurnResult {
  /** The source was read to its end. */
  readonly caughtUp: boolean;
  /** Milliseconds until it is worth looking again. */
  readonly inMs: number;
  readonly read: number;
  readonly published: number;
  readonly refused: number;
  readonly deleted: number;
  readonly withheld: number;
}

/** Failures in a row of numbers that cannot be believed, after which the snapshot is asked for what is true. */
const PATIENCE = 3;

/** @throws {OutboundError} {FeedFault} {LeaseLostError} or the signal's reason; what was published before it stays */
export async function followSource(start: Lease, needs: AggregatorNeeds, options: TurnOptions): Promise<TurnResult> {
  let lease = await readDocument(start, needs, options.signal);
  if (lease.source.hervergelijken !== null && lease.source.hervergelijken <= needs.clock.now()) {
    lease = await restart(lease, needs, { wholeHistory: false });
  }
  const sum = { read: 0, published: 0, refused: 0, deleted: 0, withheld: 0 };
  const organisations = await readOwnedOrganisations(needs.pool, lease.source.id);
  if (hasNothingToRead(lease, organisations)) {
    await noteNothingToRead(needs.pool, lease.source.id, true);
    await noteCaughtUp(needs.pool, lease.source.id, needs.clock.now());
    return { ...sum, caughtUp: true, inMs: needs.pollMs };
  }
  if (lease.source.nietsTeLezen) await noteNothingToRead(needs.pool, lease.source.id, false);
  if (organisations.every(({ aanwezig }) => !aanwezig)) {
    throw new FeedFault('organisation-missing', 'the service document names no organisation that is taken from it');
  }
  const pageNeeds: PageNeeds = { ...needs, organisations, named: new Set(lease.source.genoemd), options };
  for (let pages = 0; pages < options.maxPages; ) {
    options.signal.throwIfAborted();
    const at = needs.clock.now();
    const page = await readOrRestart(lease, pageNeeds, options.maxPages - pages);
    if (page === 'restarted') return { ...sum, caughtUp: false, inMs: 0 };
    pages += page.pages;
    sum.read += page.read;
    sum.published += page.published;
    sum.refused += page.refused;
    if (page.saved) lease = await rereadLease(needs.pool, lease);
    if (page.ends === 'cannot-go-on') return { ...sum, caughtUp: false, inMs: wait(page, needs) };
    if (page.ends === 'more') continue;
    if (lease.source.vergelijken) {
      const present = organisations.filter(({ aanwezig }) => aanwezig);
      Object.assign(sum, await finishComparison(lease, present, needs));
    }
    await showCurrent(lease, needs, at);
    return { ...sum, caughtUp: true, inMs: wait(page, needs) };
  }
  return { ...sum, caughtUp: false, inMs: 0 };
}

/**
 * All that the document names is taken from elsewhere, or it is of an aggregator that has nothing yet: so it is for two aggregators that
 * follow each other.
 */
function hasNothingToRead({ source }: Lease, owned: readonly OwnedOrganisation[]): boolean {
  const wanted = new Set(source.organisatiecodes);
  if (owned.length > 0) return false;
  if (wanted.size === 0 && source.rol === 'aggregator') return true;
  return source.genoemd.some((code) => wanted.size === 0 || wanted.has(code));
}

function wait({ freshForMs }: PageOutcome, { pollMs }: AggregatorNeeds): number {
  return Math.max(pollMs, Math.min(freshForMs, 3_600_000));
}

async function readOrRestart(lease: Lease, needs: PageNeeds, pagesLeft: number): Promise<PageOutcome | 'restarted'> {
  try {
    return await readPage(lease, needs, pagesLeft);
  } catch (error) {
    const { source } = lease;
    if (source.fase === 'historie' && (await leaveHistory(lease, error, needs))) return 'restarted';
    if (!(error instanceof FeedFault) || !mayRestart(lease, error, needs)) throw error;
    needs.log.warn({ source: source.adres, fault: error.code }, `a new snapshot is read: ${error.message}`);
    await restart(lease, needs, { wholeHistory: source.fase === 'feed' && error.code === 'cursor-refused' });
    return 'restarted';
  }
}

/**
 * A cursor that is refused (twice, when the answer does not say that it is the cursor), and whatever else stays wrong with the pages
 * themselves, needs a new snapshot. Not again and again, if that does not help.
 */
function mayRestart({ source }: Lease, fault: FeedFault, { clock, restartMs }: AggregatorNeeds): boolean {
  const begun = source.standBegonnen?.getTime() ?? 0;
  const wanted = isRefusedForGood(source, fault) || (RESTARTING.has(fault.code) && lasts(source, fault.code));
  return wanted && clock.now().getTime() - begun >= restartMs;
}

const RESTARTING: ReadonlySet<FeedFaultCode> = new Set([
  'numbers',
  'cursor-stands-still',
  'cursor-circle',
  'snapshot-endless',
]);

function isRefusedForGood({ foutSoort, mislukt }: Source, { code, certain }: FeedFault): boolean {
  return code === 'cursor-refused' && (certain || (foutSoort === code && mislukt > 0));
}

function lasts({ foutSoort, mislukt }: Source, code: string): boolean {
  return foutSoort === code && mislukt >= PATIENCE - 1;
}

/** The history is read from its beginning where its cursor is refused, and left alone where it stays unreadable: the feed goes on. */
async function leaveHistory(lease: Lease, error: unknown, { pool, log }: AggregatorNeeds): Promise<boolean> {
  const { source } = lease;
  if (error instanceof FeedFault && source.historieCursor !== null && isRefusedForGood(source, error)) {
    await restartHistory(pool, lease);
    return true;
  }
  const failure = describeFailure(error);
  const isRefusal = error instanceof FeedFault || /^status-4(?!29)/.test(failure?.kind ?? '');
  if (failure === undefined || !isRefusal || !lasts(source, failure.kind)) return false;
  log.warn({ source: source.adres, fault: failure.kind }, `its history is not read for redactions: ${failure.message}`);
  await giveUpHistory(pool, lease);
  return true;
}

async function restart(
  lease: Lease,
  { pool }: AggregatorNeeds,
  how: { readonly wholeHistory: boolean },
): Promise<Lease> {
  return await transaction(pool, async (client) => {
    await restartSnapshot(client, lease, { compare: true, ...how });
    return await rereadLease(client, lease);
  });
}

/** Says in the service document until when the data of the source is up to date; not while records of it are refused. */
async function showCurrent(lease: Lease, { pool }: AggregatorNeeds, at: Date): Promise<void> {
  const { id, rol } = lease.source;
  await transaction(pool, async (client) => {
    await noteCaughtUp(client, id, at);
    if (await hasRefused(client, id)) return;
    await resolveRefusals(client, id, at);
    // What an aggregator has is no newer than it says itself.
    const organisations = (await readOwnedOrganisations(client, id))
      .filter(({ aanwezig, achtergehouden }) => aanwezig && achtergehouden === 0)
      .flatMap(({ organisatiecode, bronBijgewerkt }) => {
        if (rol !== 'aggregator') return [{ organisatiecode, at }];
        return bronBijgewerkt === null ? [] : [{ organisatiecode, at: bronBijgewerkt < at ? bronBijgewerkt : at }];
      });
    await touchSourceOrganisations(client, organisations);
  });
}

/** More than this part of an organisation goes only with an operator's word. */
const MASS_DELETE = 10;

/**
 * Deletes what a new snapshot, and the feed after it, did not show any more. It is done when the feed has been read to its end: what
 * changes while a snapshot is read may stand in the feed only.
 * @returns how many deletes were published, and how many wait for an operator's word
 */
async function finishComparison(
  lease: Lease,
  organisations: readonly OwnedOrganisation[],
  needs: AggregatorNeeds,
): Promise<{ deleted: number; withheld: number }> {
  const { source } = lease;
  const counts = await countGone(
    needs.pool,
    source.id,
    organisations.map(({ organisatiecode }) => organisatiecode),
  );
  const tooMany = counts.filter(({ total, gone }) => gone * MASS_DELETE > total && !source.magMassaal);
  let deleted = 0;
  for (const { organisatiecode, gone } of counts) {
    if (gone === 0 || tooMany.some((other) => other.organisatiecode === organisatiecode)) continue;
    deleted += await deleteGone(lease, organisatiecode, needs);
  }
  await transaction(needs.pool, async (client) => {
    const issues = tooMany.map(({ organisatiecode, total, gone }) => ({
      what: 'mass-delete-withheld',
      where: organisatiecode,
      detail: `${gone} of ${total} resources are not in the source any more; deleting them takes an operator's word`,
      times: 1,
      blocking: true,
    }));
    await addIssues(client, source.id, issues, needs.clock.now());
    await endComparison(client, lease, tooMany);
  });
  return { deleted, withheld: tooMany.reduce((sum, { gone }) => sum + gone, 0) };
}

const MISSED =
  'Niet meer aanwezig bij de bron, en de geschiedenis van de bron zegt niet waarom: de inhoud is daarom uit de historie gehaald.';

async function deleteGone(lease: Lease, organisatiecode: string, needs: AggregatorNeeds): Promise<number> {
  const { pool, clock } = needs;
  const toelichting = `Niet meer aanwezig bij de bron ${lease.source.feedUrl ?? lease.source.adres}.`;
  let deleted = 0;
  for (;;) {
    const count = await transaction(pool, async (client) => {
      const gone = await findGone(client, lease.source.id, organisatiecode, BATCH_CHANGES);
      const removals = gone.map(
        (named): Removal => ({ op: 'delete', ...named, verwijderreden: 'overig', toelichting }),
      );
      // What of its history was not seen may have been a redaction: it must not stay readable here.
      const redactions = lease.source.historieGemist
        ? gone.map(
            (named): Removal => ({
              op: 'redact',
              ...named,
              verwijderreden: 'niet_langer_openbaar',
              toelichting: MISSED,
            }),
          )
        : [];
      if (removals.length > 0) await publishBatch(client, [...removals, ...redactions], clock.now());
      await countPublished(client, lease, removals.length + redactions.length);
      return removals.length;
    });
    if (count === 0) break;
    deleted += count;
  }
  if (deleted > 0 && lease.source.historieGemist) await cleanFiles(needs);
  return deleted;
}
