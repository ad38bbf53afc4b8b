/**
 * One run of a feed as a source: its service document when that is due, then pages of its snapshot and of its feed. A page is published
 * in the transaction that stores the new position.
 */
import { transaction } from '../../../database/transaction.ts';
import {
  FeedFault,
  type FeedFaultCode,
  readServiceDocument,
  type ServiceDocument,
} from '../../../lib/feed/service-document.ts';
import { isMassDelete, type Removal } from '../../domain/change.ts';
import { BATCH_CHANGES } from '../../writer/publisher.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Lease, Source } from '../source.ts';
import { countMissing, endComparison, findMissing, hasRecords } from '../store/comparison.ts';
import { addIssues, hasRefusals, resolveIssues, WITHHELD } from '../store/issues.ts';
import { rereadLease, restartSnapshot, updateSource } from '../store/leased-source.ts';
import {
  type OwnedOrganisation,
  readOwnedOrganisations,
  saveOfferedOrganisations,
  saveOrigin,
  updateLastModified,
} from '../store/organisations.ts';
import type { SourceIssue } from '../supplier/source-adapter.ts';
import { describeFailure } from '../worker.ts';
import { afterHistory, type PageDependencies, type PageOutcome, readPage } from './read-page.ts';
import { publishChanges, rewriteRedactedFiles } from './redactions.ts';

const PAGES_PER_RUN = 10;
/** Consecutive failures of the same kind after which the snapshot is read again. */
const FAILURES_BEFORE_RESTART = 3;

/**
 * @param tolerant refused records do not hold up their page; default: after two refusals
 * @throws {OutboundError} {FeedFault} {LeaseLostError} or the signal's reason; pages published before it stay
 */
export async function followSource(
  start: Lease,
  deps: Dependencies,
  signal: AbortSignal,
  tolerant = start.source.failureKind === 'records' && start.source.failures >= FAILURES_BEFORE_RESTART - 1,
) {
  const { pool, clock, pollMs } = deps;
  let lease = await readDocument(start, deps, signal);
  if (lease.source.compareAgainAt !== null && lease.source.compareAgainAt <= clock.now()) {
    const due = lease;
    lease = await transaction(pool, (db) => restartSnapshot(db, due, { wholeHistory: false }));
  }
  const sum = { read: 0, published: 0, refused: 0, deleted: 0, withheld: 0 };
  const organisations = await readOwnedOrganisations(pool, lease.source.id);
  if (hasNothingToRead(lease, organisations)) {
    await updateSource(pool, lease, { caughtUpAt: clock.now() });
    return { ...sum, caughtUp: true, inMs: pollMs };
  }
  const present = organisations.filter(({ isPresent }) => isPresent);
  if (present.length === 0) {
    throw new FeedFault('organisation-missing', 'the service document names no organisation that is taken from it');
  }
  for (let pages = 0; pages < PAGES_PER_RUN; pages += 1) {
    signal.throwIfAborted();
    const at = clock.now();
    const page = await readOrRestart(lease, { ...deps, organisations, signal, tolerant });
    if (page === 'restarted') break;
    sum.read += page.read;
    sum.published += page.published;
    sum.refused += page.refused;
    lease = await rereadLease(pool, lease);
    if (page.state === 'more') continue;
    const inMs = Math.max(pollMs, Math.min(page.freshForMs, 3_600_000));
    if (page.state === 'stuck') return { ...sum, caughtUp: false, inMs };
    if (lease.source.isComparing) Object.assign(sum, await finishComparison(lease, present, deps));
    await updateServiceDocument(lease, deps, at);
    return { ...sum, caughtUp: true, inMs };
  }
  return { ...sum, caughtUp: false, inMs: 0 };
}

const DOCUMENT_MS = 60_000;

/**
 * Reads the service document of a source at an interval and after a failure.
 * @returns the lease with the source as it is stored now
 * @throws {OutboundError} {FeedFault} {LeaseLostError}
 */
async function readDocument(lease: Lease, deps: Dependencies, signal: AbortSignal): Promise<Lease> {
  const { adres, documentReadAt, documentEtag, snapshotStartedAt, failures } = lease.source;
  const { clock, pool } = deps;
  // Before anything was taken, only the document can change.
  const isKnown = documentReadAt !== null && snapshotStartedAt !== null && failures === 0;
  if (isKnown && clock.now().getTime() - documentReadAt.getTime() < DOCUMENT_MS) return lease;
  const request = { url: adres, signal, etag: documentEtag ?? undefined, redirects: 'same-host' } as const;
  const answer = await deps.client.getJson(request);
  if (!answer.changed) return await updateSource(pool, lease, { documentReadAt: clock.now() });
  const document = readServiceDocument(answer.json, answer.url);
  if (document.feedUrl === deps.ownFeedUrl()) throw new FeedFault('own-feed', 'the source is this feed itself');
  return await keepDocument(lease, document, answer.etag, deps);
}

async function keepDocument(
  lease: Lease,
  { feedUrl, snapshotUrl, rol, organisaties }: ServiceDocument,
  etag: string | undefined,
  { pool, clock }: Dependencies,
): Promise<Lease> {
  const { id, organisatiecodes: wanted, feedUrl: before } = lease.source;
  const named = organisaties.map(({ organisatiecode }) => organisatiecode);
  const offered = organisaties.filter(({ organisatiecode }) => wanted.length === 0 || wanted.includes(organisatiecode));
  const now = clock.now();
  return await transaction(pool, async (db) => {
    const changes = { feedUrl, snapshotUrl, rol, named, documentReadAt: now, documentEtag: etag ?? null };
    const updated = await updateSource(db, lease, changes);
    const { added, elsewhere } = await saveOfferedOrganisations(db, id, offered);
    const issues = elsewhere.map(({ organisatiecode, adres }) => ({
      what: 'organisation-elsewhere',
      where: organisatiecode,
      detail: `is taken from ${adres ?? 'this feed itself'}; what this source says of it is ignored`,
      times: 1,
      blocking: false,
    }));
    await addIssues(db, id, issues, now);
    await saveOrigin(db, await readOwnedOrganisations(db, id), feedUrl);
    const moved = before !== null && before !== feedUrl;
    // Records of an organisation that were ignored before it was taken from this source are in the snapshot only, and their redactions
    // in the history. A cursor has no meaning at another address, even where it is accepted.
    if (added.length === 0 && !moved) return updated;
    return await restartSnapshot(db, lease, { wholeHistory: moved || (await hasRecords(db, added)) });
  });
}

/** True when all named organisations come from other sources, or when an aggregator has none yet: two aggregators may follow each other. */
function hasNothingToRead({ source }: Lease, owned: readonly OwnedOrganisation[]): boolean {
  const { organisatiecodes: wanted, rol, named } = source;
  if (owned.length > 0) return false;
  if (wanted.length === 0) return rol === 'aggregator' || named.length > 0;
  return named.some((code) => wanted.includes(code));
}

async function readOrRestart(lease: Lease, deps: PageDependencies): Promise<PageOutcome | 'restarted'> {
  try {
    return await readPage(lease, deps);
  } catch (error) {
    const { source } = lease;
    if (source.phase === 'history' && (await leaveHistory(lease, error, deps))) return 'restarted';
    if (!(error instanceof FeedFault) || !mayRestart(lease, error, deps)) throw error;
    deps.log.warn({ source: source.adres, fault: error.code }, `a new snapshot is read: ${error.message}`);
    const wholeHistory = source.phase === 'feed' && error.code === 'cursor-refused';
    await transaction(deps.pool, (db) => restartSnapshot(db, lease, { wholeHistory }));
    return 'restarted';
  }
}

/** A cursor was refused for good, or pages stay invalid. At most once per `backoffMaxMs`, in case a new snapshot does not help. */
function mayRestart({ source }: Lease, fault: FeedFault, { clock, backoffMaxMs }: Dependencies): boolean {
  const begun = source.snapshotStartedAt?.getTime() ?? 0;
  const wanted = isRefusedForGood(source, fault) || (RESTARTING.includes(fault.code) && persists(source, fault.code));
  return wanted && clock.now().getTime() - begun >= backoffMaxMs;
}

const RESTARTING: readonly FeedFaultCode[] = ['numbers', 'cursor-stands-still', 'cursor-circle', 'snapshot-endless'];

function isRefusedForGood({ failureKind, failures }: Source, { code, certain }: FeedFault): boolean {
  return code === 'cursor-refused' && (certain || (failureKind === code && failures > 0));
}

function persists({ failureKind, failures }: Source, code: string): boolean {
  return failureKind === code && failures >= FAILURES_BEFORE_RESTART - 1;
}

async function leaveHistory(lease: Lease, error: unknown, { pool, log }: Dependencies): Promise<boolean> {
  const { source } = lease;
  if (error instanceof FeedFault && source.historyCursor !== null && isRefusedForGood(source, error)) {
    await updateSource(pool, lease, { historyCursor: null, historyJoins: null, progress: null });
    return true;
  }
  const failure = describeFailure(error);
  const isRefusal = error instanceof FeedFault || /^status-4(?!29)/.test(failure?.kind ?? '');
  if (failure === undefined || !isRefusal || !persists(source, failure.kind)) return false;
  log.warn({ source: source.adres, fault: failure.kind }, `its history is not read for redactions: ${failure.message}`);
  await updateSource(pool, lease, afterHistory(null, true));
  return true;
}

/** Sets `laatstBijgewerkt` in our service document, unless records are refused. */
async function updateServiceDocument(lease: Lease, { pool }: Dependencies, at: Date): Promise<void> {
  const { id, rol } = lease.source;
  await transaction(pool, async (client) => {
    await updateSource(client, lease, { caughtUpAt: at });
    if (await hasRefusals(client, id)) return;
    await resolveIssues(client, id, 'record-refused');
    // The data of an aggregator is no newer than its own service document says.
    const organisations = (await readOwnedOrganisations(client, id))
      .filter(({ isPresent, withheld }) => isPresent && withheld === 0)
      .flatMap(({ organisatiecode, sourceUpdatedAt }) => {
        if (rol !== 'aggregator') return [{ organisatiecode, at }];
        return sourceUpdatedAt === null ? [] : [{ organisatiecode, at: sourceUpdatedAt < at ? sourceUpdatedAt : at }];
      });
    await updateLastModified(client, organisations);
  });
}

/** Deletes what neither the new snapshot nor the feed after it has; at the end of the feed, because what changed meanwhile may be in the feed only. */
async function finishComparison(
  lease: Lease,
  organisations: readonly OwnedOrganisation[],
  deps: Dependencies,
): Promise<{ deleted: number; withheld: number }> {
  const { id, adres, allowMassDelete } = lease.source;
  const codes = organisations.map(({ organisatiecode }) => organisatiecode);
  const withheld: { organisatiecode: string; missing: number }[] = [];
  const issues: SourceIssue[] = [];
  let deleted = 0;
  for (const { organisatiecode, missing, total } of await countMissing(deps.pool, id, codes)) {
    if (allowMassDelete || !isMassDelete(missing, total)) {
      deleted += await deleteMissing(lease, organisatiecode, deps);
      continue;
    }
    withheld.push({ organisatiecode, missing });
    const detail = `${missing} of ${total} resources are not in the source any more; deleting them needs an operator's consent: \`koppelvlak bron sync ${adres} --allow-mass-delete\``;
    issues.push({ what: WITHHELD, where: organisatiecode, detail, times: 1, blocking: true });
  }
  const at = deps.clock.now();
  await transaction(deps.pool, async (client) => {
    await addIssues(client, id, issues, at);
    await resolveIssues(client, id, WITHHELD, at);
    await endComparison(client, lease, withheld);
  });
  return { deleted, withheld: withheld.reduce((sum, { missing }) => sum + missing, 0) };
}

const HISTORY_MISSED =
  'Niet meer aanwezig bij de bron, en de geschiedenis van de bron zegt niet waarom: de inhoud is daarom uit de historie gehaald.';

async function deleteMissing(lease: Lease, organisatiecode: string, deps: Dependencies): Promise<number> {
  const { id, feedUrl, adres, historyMissed } = lease.source;
  const toelichting = `Niet meer aanwezig bij de bron ${feedUrl ?? adres}.`;
  const deletion = { op: 'delete', verwijderreden: 'overig', toelichting } as const;
  // The missed part of the history may have held a redaction, and its text must not stay readable here.
  const redaction = { op: 'redact', verwijderreden: 'niet_langer_openbaar', toelichting: HISTORY_MISSED } as const;
  let deleted = 0;
  for (let count = BATCH_CHANGES; count === BATCH_CHANGES; deleted += count) {
    const missing = await findMissing(deps.pool, id, organisatiecode, BATCH_CHANGES);
    const changes = [deletion, ...(historyMissed ? [redaction] : [])].flatMap((removal) =>
      missing.map((named): Removal => ({ ...removal, ...named })),
    );
    await transaction(deps.pool, async (db) => {
      const published = await publishChanges(db, changes, deps);
      await updateSource(db, lease, {}, { published });
    });
    count = missing.length;
  }
  if (deleted > 0 && historyMissed) await rewriteRedactedFiles(deps);
  return deleted;
}
