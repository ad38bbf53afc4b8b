import type { Pool } from '../../kernel/database/pool.ts';
import type { Removal, Verwijderreden } from '../domain/change.ts';
import { resourceKey } from '../domain/resource.ts';
import { readFeedRow } from '../store/feed-row.ts';
import { readStateOf } from '../store/read-state-of.ts';
import { BATCH_CHANGES, type Publisher } from './publisher.ts';

/** Of what an organisation has, a sync takes away no more than this part without being told to. */
export const MASS_DELETE_PART = 0.1;

/** What a full state of an organisation lacks. */
export interface Missing {
  readonly organisatiecode: string;
  /** What was recorded after this number is newer than the state. */
  readonly upTo: number;
  /** How many resources the organisation had. */
  readonly present: number;
  readonly removals: readonly Removal[];
  /** More than may be taken away without an operator's word. */
  readonly isMassDelete: boolean;
}

/** Finds what is in the feed and not in the full state whose resources (`resourceKey`) are given. */
export async function findMissing(
  pool: Pool,
  organisatiecode: string,
  keys: ReadonlySet<string>,
  because: { readonly verwijderreden: Verwijderreden; readonly toelichting?: string | undefined },
): Promise<Missing> {
  // What others publish meanwhile is newer than the state that is compared.
  const upTo = (await readFeedRow(pool)).head.sequenceNumber;
  const present = await readStateOf(pool, organisatiecode, upTo);
  const removals = present
    .filter(({ resourceType, resource }) => !keys.has(resourceKey(resourceType, resource)))
    .map(({ resourceType, resource }): Removal => ({ op: 'delete', resourceType, resource, ...because }));
  const isMassDelete = removals.length > present.length * MASS_DELETE_PART;
  return { organisatiecode, upTo, present: present.length, removals, isMassDelete };
}

/** Publishes removals in batches, but of nothing that others have published anew since; returns how many were recorded. */
export async function publishRemovals(
  pool: Pool,
  publisher: Publisher,
  { organisatiecode, upTo, removals: found }: Missing,
  signal: AbortSignal,
): Promise<number> {
  const still = await readStateOf(pool, organisatiecode, upTo);
  const unchanged = new Set(still.map(({ resourceType, resource }) => resourceKey(resourceType, resource)));
  const removals = found.filter(({ resourceType, resource }) => unchanged.has(resourceKey(resourceType, resource)));
  let recorded = 0;
  for (let from = 0; from < removals.length; from += BATCH_CHANGES) {
    signal.throwIfAborted();
    const outcomes = await publisher.publish(removals.slice(from, from + BATCH_CHANGES));
    recorded += outcomes.filter((outcome) => outcome !== 'no-op').length;
  }
  return recorded;
}
