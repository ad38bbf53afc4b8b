import type { Pool } from '../../database/pool.ts';
import { transaction } from '../../database/transaction.ts';
import { resourceKey } from '../../lib/feed/resource.ts';
import type { Clock } from '../../lib/time.ts';
import type { ProofWriterOf } from '../../proof/proof-log.ts';
import { type Change, isMassDelete, type Removal } from '../domain/change.ts';
import { type Outcome, publishBatch } from '../store/publish.ts';
import { readFeedRow } from '../store/records.ts';
import { readStateOf, touchOrganisations } from '../store/state.ts';
import { rewritePartitions } from '../store/text-partitions.ts';

/** Maximum changes of one transaction, and characters of their text: bounds how long other writers wait. */
export const BATCH_CHANGES = 1000;
export const BATCH_CHARACTERS = 1024 * 1024;

export interface Publisher {
  /**
   * Publishes changes in their order, all of them or none; returns the result of each, in the same order. When a redaction is among them, its
   * content is physically gone on return. Every instance is notified at the commit.
   */
  publish(changes: readonly Change[]): Promise<Outcome[]>;
}

interface PublisherNeeds {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Absent: no proof log is kept of the feed. */
  readonly proof?: ProofWriterOf;
}

export function createPublisher({ pool, clock, proof }: PublisherNeeds): Publisher {
  const writer = proof?.('raadsfeed');
  return {
    async publish(changes) {
      const now = clock.now();
      const outcomes = await transaction(pool, async (client) => {
        const found = await publishBatch(client, changes, now, writer);
        await touchOrganisations(client, namesOf(changes), now);
        return found;
      });
      // Also if everything was redacted already: the earlier run may have been interrupted after its commit.
      if (changes.some(({ op }) => op === 'redact')) await rewritePartitions(pool);
      return outcomes;
    },
  };
}

function namesOf(changes: readonly Change[]): ReadonlyMap<string, string | undefined> {
  const names = new Map<string, string | undefined>();
  for (const change of changes) {
    const { organisatiecode } = change.resource;
    names.set(organisatiecode, change.op === 'upsert' ? change.organisatienaam : names.get(organisatiecode));
  }
  return names;
}

export interface Missing {
  readonly present: number;
  readonly removals: readonly Removal[];
  /** More than a sync deletes unless the operator allows it. */
  readonly isMassDelete: boolean;
  /** Repeats the comparison, without resources that were published again meanwhile. */
  refresh(): Promise<Missing>;
}

/** @param keys the resources (`resourceKey`) of the full state */
export async function findMissing(
  pool: Pool,
  organisatiecode: string,
  keys: ReadonlySet<string>,
  before?: number,
): Promise<Missing> {
  // Records that others publish meanwhile are newer than the given state.
  const upTo = before ?? (await readFeedRow(pool)).head.sequenceNumber;
  const present = await readStateOf(pool, organisatiecode, upTo);
  const removals = present
    .filter((found) => !keys.has(resourceKey(found)))
    .map((found): Removal => ({ op: 'delete', ...found, verwijderreden: 'ingetrokken' }));
  return {
    removals,
    present: present.length,
    isMassDelete: isMassDelete(removals.length, present.length),
    refresh: () => findMissing(pool, organisatiecode, keys, upTo),
  };
}

export async function publishRemovals(publisher: Publisher, missing: Missing, signal: AbortSignal): Promise<number> {
  const { removals } = await missing.refresh();
  let recorded = 0;
  for (let from = 0; from < removals.length; from += BATCH_CHANGES) {
    signal.throwIfAborted();
    const outcomes = await publisher.publish(removals.slice(from, from + BATCH_CHANGES));
    recorded += outcomes.filter((outcome) => outcome !== 'no-op').length;
  }
  return recorded;
}
