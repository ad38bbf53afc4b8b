/**
 * The redactions of a source. They are carried out whatever else is wrong with their page: what had to disappear there must not stay
 * readable here.
 */

import { type Db, transaction } from '../../../database/transaction.ts';
import { looseRecords, redactedNumbers, sequenceNumberOf } from '../../../lib/feed-client/page.ts';
import type { Change, Removal } from '../../../raadsfeed/domain/change.ts';
import {
  isResourceType,
  RESOURCE_TYPES,
  type Resource,
  type ResourceType,
  resourceKey,
} from '../../../raadsfeed/domain/resource.ts';
import { publishBatch } from '../../../raadsfeed/store/publish.ts';
import { readStateHashes } from '../../../raadsfeed/store/state.ts';
import { rewritePartitions } from '../../../raadsfeed/store/text-partitions.ts';
import type { AggregatorDependencies } from '../dependencies.ts';
import { aggregatorId } from '../resource-key.ts';
import type { Lease } from '../source.ts';
import { readCurrentSeen, readTaken, type TakenRecord } from '../store/comparison.ts';
import { updateSource } from '../store/leased-source.ts';
import { readOwnedOrganisations } from '../store/organisations.ts';
import { cameFrom, otherMembers, reasonOf, resourceOf } from './judge-record.ts';

type SourceRecord = Readonly<Record<string, unknown>>;

export interface RedactionContext {
  readonly feedUrl: string;
  readonly ownFeedUrl: string;
  readonly ids: boolean;
  /** Organisations of this source, whether its document names them now or not. */
  readonly owns: (organisatiecode: string) => boolean;
}

/** The changes that follow from a redaction; none when it is of an organisation of another source, or came from this feed itself. */
export function redactionChanges(
  record: SourceRecord,
  taken: ReadonlyMap<number, TakenRecord>,
  context: RedactionContext,
): readonly Removal[] {
  if (record.op !== 'redact' || cameFrom(record, context.ownFeedUrl)) return [];
  const number = sequenceNumberOf(record);
  const sourceNumbers = redactedNumbers(record);
  const removal = (resourceType: ResourceType, resource: Resource): Removal => ({
    op: 'redact',
    resourceType,
    resource,
    ...reasonOf(record),
    ...(number === undefined ? {} : { herkomst: { feedUrl: context.feedUrl, sequenceNumber: number }, sourceNumbers }),
    ...(context.ids ? { aggregatorId: aggregatorId(resourceType, resource) } : {}),
    // Members that cannot be published are left out: they do not hold up the redaction.
    other: otherMembers(record).members,
  });
  const resource = resourceOf(record);
  if (resource !== undefined && !context.owns(resource.organisatiecode)) return [];
  const { resourceType } = record;
  // An unknown type may be any of ours; where there is no such resource nothing happens.
  const kinds = isResourceType(resourceType) ? [resourceType] : RESOURCE_TYPES;
  const named = resource === undefined ? [] : kinds.map((kind) => removal(kind, resource));
  if (resource !== undefined && number !== undefined) return named;
  const byNumber = resourcesByNumber(sourceNumbers, taken, context);
  return [...named, ...byNumber.map((found) => removal(found.resourceType, found.resource))];
}

/** The resources that a redaction reaches by its numbers alone. */
function resourcesByNumber(
  numbers: readonly number[],
  taken: ReadonlyMap<number, TakenRecord>,
  { owns }: RedactionContext,
): readonly TakenRecord[] {
  return numbers.flatMap((number) => {
    const found = taken.get(number);
    return found !== undefined && owns(found.resource.organisatiecode) ? [found] : [];
  });
}

/**
 * Carries out the redactions of an invalid response, and of pages that were read ahead. Those that were carried out before are skipped:
 * they must not remove what was published since.
 */
export async function carryOutRedactions(lease: Lease, json: unknown, deps: AggregatorDependencies): Promise<number> {
  const records = looseRecords(json).filter(({ op }) => op === 'redact');
  if (records.length === 0) return 0;
  const count = await transaction(deps.pool, async (client) => {
    const context = await redactionContext(client, lease, deps);
    const taken = await readTaken(client, context.feedUrl, numbersIn(records));
    const changes = records
      .filter((record) => !isTaken(record, taken))
      .flatMap((record) => redactionChanges(record, taken, context));
    const outcomes = changes.length === 0 ? [] : await publishBatch(client, changes, deps.clock.now(), deps.proof);
    const recorded = outcomes.filter((outcome) => outcome !== 'no-op').length;
    await updateSource(client, lease, {}, { published: recorded });
    return recorded;
  });
  if (count > 0) await rewriteRedactedFiles(deps);
  return count;
}

export async function redactionContext(
  db: Db,
  { source }: Lease,
  { ids, ownFeedUrl }: AggregatorDependencies,
): Promise<RedactionContext> {
  const codes = new Set((await readOwnedOrganisations(db, source.id)).map(({ organisatiecode }) => organisatiecode));
  return { feedUrl: source.feedUrl ?? '', ownFeedUrl: ownFeedUrl(), ids, owns: (code) => codes.has(code) };
}

/** The numbers of redactions, and those that they name. */
export function numbersIn(records: readonly SourceRecord[]): number[] {
  return records.flatMap((record) => [
    ...redactedNumbers(record),
    ...(sequenceNumberOf(record) === undefined ? [] : [sequenceNumberOf(record) ?? 0]),
  ]);
}

/** Whether this redaction was taken before. */
export function isTaken(record: SourceRecord, taken: ReadonlyMap<number, TakenRecord>): boolean {
  const found = taken.get(sequenceNumberOf(record) ?? 0);
  const resource = resourceOf(record);
  return (
    found?.op === 'redact' &&
    found.resourceType === record.resourceType &&
    found.resource.organisatiecode === resource?.organisatiecode &&
    found.resource.bronidentificatie === resource.bronidentificatie
  );
}

/**
 * Carries out redactions from the history of a source whose snapshot has been read since: a resource that the snapshot shows by a later
 * record is published again afterwards. The caller owns the transaction.
 * @returns how many records were published
 */
export async function redactFromHistory(
  client: Db,
  lease: Lease,
  records: readonly { readonly sequenceNumber: number; readonly record: SourceRecord }[],
  taken: ReadonlyMap<number, TakenRecord>,
  deps: AggregatorDependencies,
): Promise<number> {
  const context = await redactionContext(client, lease, deps);
  let recorded = 0;
  for (const { sequenceNumber, record } of records) {
    const changes = redactionChanges(record, taken, context);
    if (changes.length === 0) continue;
    const reached = [...changes, ...resourcesByNumber(redactedNumbers(record), taken, context)];
    const standing = (await readCurrentSeen(client, lease.source.id, reached)).filter(
      ({ seenNumber }) => seenNumber > sequenceNumber,
    );
    const redacted = await publishBatch(client, changes, deps.clock.now(), deps.proof);
    const state = await readStateHashes(
      client,
      standing.map(({ change }) => change),
    );
    const again = standing
      .map(({ change }): Change => change)
      .filter(({ resourceType, resource }) => !state.has(resourceKey(resourceType, resource)));
    const stood = again.length === 0 ? [] : await publishBatch(client, again, deps.clock.now(), deps.proof);
    recorded += [...redacted, ...stood].filter((outcome) => outcome !== 'no-op').length;
  }
  return recorded;
}

/** Rewrites the partitions that still hold redacted text. A failure is retried at an interval. */
export async function rewriteRedactedFiles({ pool, log }: Pick<AggregatorDependencies, 'pool' | 'log'>): Promise<void> {
  await rewritePartitions(pool).catch((error: unknown) =>
    log.warn({ err: error }, 'redacted text is still in files of the database'),
  );
}
