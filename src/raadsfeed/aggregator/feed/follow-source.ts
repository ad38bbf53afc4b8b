/**
 * One turn at a source that is a feed: its service document when it is time, then pages of its snapshot, then of its feed, until its
 * end or the end of the turn. Whatever is believed is published in the transaction that remembers how far it was read.
 */

import { transaction } from '../../../kernel/database/transaction.ts';
import type { AggregatorNeeds } from '../needs.ts';
import type { Lease } from '../source.ts';
import { SourceFault } from '../source-fault.ts';
import { rereadLease } from '../store/leases.ts';
import {
  noteCaughtUp,
  type OwnedOrganisation,
  readOwnedOrganisations,
  touchSourceOrganisations,
} from '../store/organisations.ts';
import { restartSnapshot } from '../store/restart-snapshot.ts';
import { finishComparison } from './finish-comparison.ts';
import { readDocument } from './read-document.ts';
import { type PageOutcome, readPage } from './read-page.ts';

export interface TurnOptions {
  readonly signal: AbortSignal;
  /** Pages of one turn; then others get theirs. */
  readonly maxPages: number;
  /** Refused records do not hold up the page that they are on: it was tried before. */
  readonly tolerant: boolean;
}

export interface TurnResult {
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

/** @throws {OutboundError} {SourceFault} {LeaseLostError} or the signal's reason; what was published before it stays */
export async function followSource(start: Lease, needs: AggregatorNeeds, options: TurnOptions): Promise<TurnResult> {
  let lease = await readDocument(start, needs, options.signal);
  if (lease.source.hervergelijken !== null && lease.source.hervergelijken <= needs.clock.now()) {
    lease = await restart(lease, needs);
  }
  const organisations = (await readOwnedOrganisations(needs.pool, lease.source.id)).filter(({ aanwezig }) => aanwezig);
  if (organisations.length === 0) {
    throw new SourceFault('organisation-missing', 'the service document names no organisation that is taken from it');
  }
  const sum = { read: 0, published: 0, refused: 0, deleted: 0, withheld: 0 };
  for (let pages = 0; pages < options.maxPages; pages += 1) {
    options.signal.throwIfAborted();
    const at = needs.clock.now();
    const page = await readOrRestart(lease, organisations, needs, options);
    if (page === 'restarted') return { ...sum, caughtUp: false, inMs: 0 };
    sum.read += page.read;
    sum.published += page.published;
    sum.refused += page.refused;
    if (page.saved) lease = await rereadLease(needs.pool, lease);
    if (page.ends === 'cannot-go-on') return { ...sum, caughtUp: false, inMs: wait(page, needs) };
    if (page.ends === 'more') continue;
    if (lease.source.vergelijken) Object.assign(sum, await finishComparison(lease, organisations, needs));
    await tell(lease, needs, at);
    return { ...sum, caughtUp: true, inMs: wait(page, needs) };
  }
  return { ...sum, caughtUp: false, inMs: 0 };
}

function wait({ freshForMs }: PageOutcome, { pollMs }: AggregatorNeeds): number {
  return Math.max(pollMs, Math.min(freshForMs, 3_600_000));
}

async function readOrRestart(
  lease: Lease,
  organisations: readonly OwnedOrganisation[],
  needs: AggregatorNeeds,
  options: TurnOptions,
): Promise<PageOutcome | 'restarted'> {
  try {
    return await readPage(lease, organisations, needs, options);
  } catch (error) {
    if (!(error instanceof SourceFault) || !mayRestart(lease, error, needs)) throw error;
    needs.log.warn({ source: lease.source.adres, fault: error.code }, `a new snapshot is read: ${error.message}`);
    await restart(lease, needs);
    return 'restarted';
  }
}

/** A cursor that is refused needs a new snapshot; numbers that stay wrong too. Not again and again, if that does not help. */
function mayRestart({ source }: Lease, { code }: SourceFault, { clock, restartMs }: AggregatorNeeds): boolean {
  const lasts = source.foutSoort === code && source.mislukt >= PATIENCE - 1;
  const wanted = code === 'cursor-refused' || ((code === 'numbers' || code === 'cursor-stands-still') && lasts);
  const begun = source.standBegonnen?.getTime() ?? 0;
  return wanted && clock.now().getTime() - begun >= restartMs;
}

async function restart(lease: Lease, { pool }: AggregatorNeeds): Promise<Lease> {
  return await transaction(pool, async (client) => {
    await restartSnapshot(client, lease, true);
    return await rereadLease(client, lease);
  });
}

/** Says in the service document until when the data of the source is up to date. */
async function tell(lease: Lease, { pool }: AggregatorNeeds, at: Date): Promise<void> {
  const { id, rol } = lease.source;
  await transaction(pool, async (client) => {
    await noteCaughtUp(client, id, at);
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
