import { transaction } from '../../../kernel/database/transaction.ts';
import { resourceKey } from '../../domain/resource.ts';
import { publishBatch } from '../../store/publish.ts';
import type { AggregatorNeeds } from '../needs.ts';
import type { Lease } from '../source.ts';
import { addIssues } from '../store/issues.ts';
import { noteRefused } from '../store/refused.ts';
import { type Position, saveProgress } from '../store/save-progress.ts';
import { markSeen } from '../store/seen.ts';
import type { CheckedPage } from './check-page.ts';
import { cleanFiles } from './redactions.ts';

/**
 * Publishes a page and keeps how far the source was read, both or neither.
 * @returns how many records were recorded
 * @throws {LeaseLostError} and then nothing was published
 */
export async function publishPage(
  lease: Lease,
  page: CheckedPage & { readonly read: number },
  to: { readonly position: Position; readonly head?: number | undefined },
  { pool, clock, log }: Pick<AggregatorNeeds, 'pool' | 'clock' | 'log'>,
): Promise<number> {
  const { changes, issues, refused, refusedKeys, read, present } = page;
  const { id, vergelijken } = lease.source;
  const now = clock.now();
  const outcomes = await transaction(pool, async (client) => {
    const found = changes.length === 0 ? [] : await publishBatch(client, changes, now);
    if (vergelijken) await markSeen(client, id, present);
    const accepted = changes.map(({ resourceType, resource }) => resourceKey(resourceType, resource));
    await noteRefused(client, id, { refused: refusedKeys, accepted: withoutLater(accepted, refusedKeys) });
    await addIssues(client, id, issues, now);
    const published = found.filter((outcome) => outcome !== 'no-op').length;
    // Last, in the order in which every writer takes its locks. It also finds out whether the lease still holds.
    await saveProgress(client, lease, to.position, { head: to.head, counts: { read, published, refused } });
    return found;
  });
  // It is tried again at an interval; the page is published all the same.
  if (changes.some(({ op }, i) => op === 'redact' && outcomes[i] !== 'no-op')) await cleanFiles({ pool, log });
  return outcomes.filter((outcome) => outcome !== 'no-op').length;
}

/** A record of a resource was taken, and a later one on the same page refused. */
function withoutLater(accepted: readonly string[], refused: readonly string[]): readonly string[] {
  const wrong = new Set(refused);
  return wrong.size === 0 ? accepted : accepted.filter((key) => !wrong.has(key));
}
