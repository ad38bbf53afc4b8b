import { transaction } from '../../../database/transaction.ts';
import { FeedFault, readServiceDocument, type ServiceDocument } from '../../../lib/feed/service-document.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Lease } from '../source.ts';
import { hasRecords } from '../store/comparison.ts';
import { addIssues } from '../store/issues.ts';
import { restartSnapshot, updateSource } from '../store/leased-source.ts';
import { readOwnedOrganisations, saveOfferedOrganisations, saveOrigin } from '../store/organisations.ts';

const DOCUMENT_MS = 60_000;

/**
 * Reads the service document of a source at an interval and after a failure.
 * @returns the lease with the source as it is stored now
 * @throws {OutboundError} {FeedFault} {LeaseLostError}
 */
export async function readDocument(lease: Lease, deps: Dependencies, signal: AbortSignal): Promise<Lease> {
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
      ...{ times: 1, blocking: false },
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
