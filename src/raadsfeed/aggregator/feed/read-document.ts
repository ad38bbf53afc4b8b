import { transaction } from '../../../database/transaction.ts';
import { FeedFault, readServiceDocument, type ServiceDocument } from '../../../lib/feed/service-document.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Lease } from '../source.ts';
import { hasRecords } from '../store/comparison.ts';
import { addIssues } from '../store/issues.ts';
import { rereadLease, restartSnapshot, updateSource } from '../store/leased-source.ts';
import { readOwnedOrganisations, saveOfferedOrganisations, saveOrigin } from '../store/organisations.ts';
import type { SourceIssue } from '../supplier/source-adapter.ts';

const DOCUMENT_MS = 60_000;

/**
 * Reads the service document of a source at an interval and after a failure.
 * @returns the lease with the source as it is stored now
 * @throws {OutboundError} {FeedFault} {LeaseLostError}
 */
export async function readDocument(lease: Lease, deps: Dependencies, signal: AbortSignal): Promise<Lease> {
  const { source } = lease;
  const age =
    source.documentReadAt === null
      ? Number.POSITIVE_INFINITY
      : deps.clock.now().getTime() - source.documentReadAt.getTime();
  // Before anything was taken, only the document can change.
  const isKnown = source.snapshotStartedAt !== null && source.failures === 0;
  if (isKnown && age < DOCUMENT_MS) return lease;
  const answer = await deps.client.getJson({
    url: source.adres,
    signal,
    etag: source.documentEtag ?? undefined,
    redirects: 'same-host',
  });
  if (!answer.changed) {
    await updateSource(deps.pool, lease, { documentReadAt: deps.clock.now() });
    return await rereadLease(deps.pool, lease);
  }
  const document = readServiceDocument(answer.json, answer.url);
  if (document.feedUrl === deps.ownFeedUrl()) throw new FeedFault('own-feed', 'the source is this feed itself');
  return await keepDocument(lease, document, answer.etag, deps);
}

async function keepDocument(
  lease: Lease,
  document: ServiceDocument,
  etag: string | undefined,
  { pool, clock }: Dependencies,
): Promise<Lease> {
  const { source } = lease;
  const wanted = new Set(source.organisatiecodes);
  const offered = document.organisaties.filter(
    ({ organisatiecode }) => wanted.size === 0 || wanted.has(organisatiecode),
  );
  return await transaction(pool, async (client) => {
    await updateSource(client, lease, {
      documentReadAt: clock.now(),
      documentEtag: etag ?? null,
      feedUrl: document.feedUrl,
      snapshotUrl: document.snapshotUrl,
      rol: document.rol,
      named: document.organisaties.map(({ organisatiecode }) => organisatiecode),
    });
    const { added, elsewhere } = await saveOfferedOrganisations(client, source.id, offered);
    const issues = elsewhere.map(
      ({ organisatiecode, adres }): SourceIssue => ({
        what: 'organisation-elsewhere',
        where: organisatiecode,
        detail: `is taken from ${adres ?? 'this feed itself'}; what this source says of it is ignored`,
        times: 1,
        blocking: false,
      }),
    );
    await addIssues(client, source.id, issues, clock.now());
    const owned = await readOwnedOrganisations(client, source.id);
    await saveOrigin(client, owned, document.feedUrl);
    const moved = source.feedUrl !== null && source.feedUrl !== document.feedUrl;
    // Records of an organisation that were ignored before it was taken from this source are in the snapshot only, and their redactions
    // in the history. A cursor has no meaning at another address, even where it is accepted.
    if (added.length > 0 || moved) {
      await restartSnapshot(client, lease, { wholeHistory: moved || (await hasRecords(client, added)) });
    }
    return await rereadLease(client, lease);
  });
}
