import { transaction } from '../../../kernel/database/transaction.ts';
import { type Change, prepareChange } from '../../domain/change.ts';
import { publishBatch } from '../../store/publish.ts';
import { BATCH_CHANGES } from '../../writer/publisher.ts';
import { aggregatorId } from '../feed/aggregator-id.ts';
import type { AggregatorNeeds } from '../needs.ts';
import type { Lease } from '../source.ts';
import type { SourceIssue, WindowReading } from '../source-adapter.ts';
import { forgetPlaces, savePlaces } from '../store/places.ts';
import { countPublished } from '../store/save-progress.ts';
import { type WindowBatch, windowBatches } from '../window-batches.ts';
import { deriveChanges } from '../window-changes.ts';
import { readFeedState } from './read-feed-state.ts';

export interface PublishedReading {
  /** Records that were recorded, the deletes included; what did not change is not. */
  readonly published: number;
  readonly deleted: number;
  /** Deletes that wait for an operator's word. */
  readonly withheld: number;
  /** Records that the contract does not allow: they were not published. */
  readonly issues: readonly SourceIssue[];
}

type PublishNeeds = Pick<AggregatorNeeds, 'pool' | 'clock' | 'validate' | 'ids'>;

export interface PublishReadingOptions {
  readonly organisatiecode: string;
  /** Deletes in this round before this window: the limit of a tenth holds for all of them together. */
  readonly deletedBefore: number;
  readonly allowMassDelete: boolean;
  /** Lines that one transaction takes at most. */
  readonly batch?: number;
}

/**
 * Publishes what follows from a reading and remembers its places: in one transaction, or in several in an order that may stop anywhere.
 * @throws {LeaseLostError} when the source is somebody else's now
 */
export async function publishReading(
  lease: Lease,
  reading: WindowReading,
  { organisatiecode, deletedBefore, allowMassDelete, batch = BATCH_CHANGES }: PublishReadingOptions,
  needs: PublishNeeds,
): Promise<PublishedReading> {
  const sourceId = lease.source.id;
  const state = await readFeedState(needs.pool, { sourceId, organisatiecode }, reading);
  const changes = deriveChanges(reading, { ...state, deletedBefore, allowMassDelete });
  const issues: SourceIssue[] = [];
  let published = 0;
  for (const part of windowBatches(changes, batch)) {
    const prepared = prepare(part, needs, issues);
    published += await transaction(needs.pool, async (client) => {
      const outcomes = prepared.length === 0 ? [] : await publishBatch(client, prepared, needs.clock.now());
      const recorded = outcomes.filter((outcome) => outcome !== 'no-op').length;
      await savePlaces(client, sourceId, part.places);
      await forgetPlaces(client, sourceId, part.forget);
      // Last: it also finds out whether the lease still holds.
      await countPublished(client, lease, recorded);
      return recorded;
    });
  }
  return { published, deleted: changes.deletes.length, withheld: changes.withheld.length, issues };
}

function prepare({ lines }: WindowBatch, { validate, ids }: PublishNeeds, issues: SourceIssue[]): Change[] {
  const changes: Change[] = [];
  for (const line of lines) {
    const checked = validate(line);
    if ('faults' in checked) {
      const name = line.op === 'upsert' ? line.data.bronidentificatie : line.resource.bronidentificatie;
      const where = `${line.resourceType}/${name}`;
      issues.push({ what: 'invalid-record', where, detail: checked.faults.join('; '), times: 1, blocking: true });
      continue;
    }
    const change = prepareChange(checked.line);
    changes.push(ids ? { ...change, aggregatorId: aggregatorId(change.resourceType, change.resource) } : change);
  }
  return changes;
}
