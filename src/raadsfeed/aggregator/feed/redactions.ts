/** Publishes changes of a source. Redactions are carried out whatever else is wrong with their page: redacted text must not stay readable here. */
import { type Db, transaction } from '../../../database/transaction.ts';
import { looseRecords } from '../../../lib/feed/read-page.ts';
import { cameFrom, redactedNumbers, sequenceNumberOf } from '../../../lib/feed/record.ts';
import { isResourceType, RESOURCE_TYPES, readResource, resourceKey } from '../../../lib/feed/resource.ts';
import type { JsonObject } from '../../../lib/json/json-value.ts';
import type { Change, Removal } from '../../domain/change.ts';
import { publishBatch } from '../../store/publish.ts';
import { rewritePartitions } from '../../store/text-partitions.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Lease } from '../source.ts';
import { readTaken, type TakenRecord } from '../store/comparison.ts';
import { type Counts, type SourceChanges, updateSource } from '../store/leased-source.ts';
import { otherMembers, type RecordContext, reasonOf } from './judge-record.ts';

/** Empty for an organisation of another source, and for a record that came from this feed. */
export function redactionChanges(
  record: JsonObject,
  taken: ReadonlyMap<number, TakenRecord>,
  context: RecordContext,
): readonly Removal[] {
  if (record.op !== 'redact' || cameFrom(record, context.ownFeedUrl)) return [];
  const { resourceType } = record;
  const resource = readResource(record);
  if (resource !== undefined && !context.owns(resource.organisatiecode)) return [];
  const number = sequenceNumberOf(record);
  const sourceNumbers = redactedNumbers(record);
  // An unknown type may be any known one; where the resource does not exist nothing happens.
  const kinds = isResourceType(resourceType) ? [resourceType] : RESOURCE_TYPES;
  const named = resource === undefined ? [] : kinds.map((kind) => ({ resourceType: kind, resource }));
  const byNumber =
    resource !== undefined && number !== undefined
      ? []
      : sourceNumbers
          .flatMap((one) => taken.get(one) ?? [])
          .filter((one) => context.owns(one.resource.organisatiecode));
  const herkomst = number === undefined ? undefined : { feedUrl: context.feedUrl, sequenceNumber: number };
  return [...named, ...byNumber].map((one) => ({
    op: 'redact',
    resourceType: one.resourceType,
    resource: one.resource,
    ...reasonOf(record),
    ...(herkomst && { herkomst, sourceNumbers }),
    // Members that cannot be published do not hold up the redaction.
    other: otherMembers(record).members,
  }));
}

/** The redactions among records that were not taken over before: earlier ones must not remove later publications. */
export function missedRedactions(
  records: readonly JsonObject[],
  taken: ReadonlyMap<number, TakenRecord>,
  context: RecordContext,
): readonly Removal[] {
  const isTaken = (record: JsonObject): boolean => {
    const found = taken.get(sequenceNumberOf(record) ?? 0);
    return found?.op === 'redact' && isOf(record, found);
  };
  return records.filter((record) => !isTaken(record)).flatMap((record) => redactionChanges(record, taken, context));
}

export function isOf(record: JsonObject, found: TakenRecord): boolean {
  const resource = readResource(record);
  if (resource === undefined || record.resourceType !== found.resourceType) return false;
  return resourceKey({ resourceType: found.resourceType, resource }) === resourceKey(found);
}

export async function carryOutRedactions(
  lease: Lease,
  json: unknown,
  context: RecordContext,
  deps: Dependencies,
): Promise<void> {
  const records = looseRecords(json).filter(({ op }) => op === 'redact');
  if (records.length === 0) return;
  const taken = await readTaken(deps.pool, lease.source, numbersIn(records));
  await publishFrom(lease, missedRedactions(records, taken, context), deps);
}

interface Publication {
  readonly position?: SourceChanges;
  readonly counts?: Counts;
  readonly also?: (db: Db) => Promise<void>;
}

/** Publishes changes and stores the new position in one transaction. @returns how many were recorded @throws {LeaseLostError} nothing was published */
export async function publishFrom(
  lease: Lease,
  changes: readonly Change[],
  deps: Dependencies,
  { position = {}, counts = {}, also }: Publication = {},
): Promise<number> {
  const recorded = await transaction(deps.pool, async (db) => {
    const published = await publishChanges(db, changes, deps);
    await also?.(db);
    // Last, in the order in which every writer locks; it also checks the lease.
    await updateSource(db, lease, position, { ...counts, published });
    return published;
  });
  if (recorded > 0 && changes.some(({ op }) => op === 'redact')) await rewriteRedactedFiles(deps);
  return recorded;
}

/** A failure is retried at an interval. */
export async function rewriteRedactedFiles({ pool, log }: Dependencies): Promise<void> {
  await rewritePartitions(pool).catch((error: unknown) =>
    log.warn({ err: error }, 'redacted text is still in files of the database'),
  );
}

/** @returns the number of recorded changes; one without effect is not recorded */
export async function publishChanges(
  db: Db,
  changes: readonly Change[],
  { clock, proof }: Pick<Dependencies, 'clock' | 'proof'>,
): Promise<number> {
  const outcomes = changes.length === 0 ? [] : await publishBatch(db, changes, clock.now(), proof);
  return outcomes.filter((outcome) => outcome !== 'no-op').length;
}

export function numbersIn(records: readonly JsonObject[]): number[] {
  return records.flatMap((record) => [redactedNumbers(record), sequenceNumberOf(record) ?? []].flat());
}
