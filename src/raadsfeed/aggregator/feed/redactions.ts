/** Redactions of a source. They are carried out whatever else is wrong with their page, because redacted text must not stay readable here. */

import { type Db, transaction } from '../../../database/transaction.ts';
import { looseRecords } from '../../../lib/feed/read-page.ts';
import { cameFrom, redactedNumbers, sequenceNumberOf } from '../../../lib/feed/record.ts';
import {
  isResourceType,
  RESOURCE_TYPES,
  type Resource,
  type ResourceType,
  readResource,
} from '../../../lib/feed/resource.ts';
import type { JsonObject } from '../../../lib/json/json-value.ts';
import type { Change, Removal } from '../../domain/change.ts';
import { publishBatch } from '../../store/publish.ts';
import { rewritePartitions } from '../../store/text-partitions.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Lease } from '../source.ts';
import { readTaken, type TakenRecord } from '../store/comparison.ts';
import { updateSource } from '../store/leased-source.ts';
import { otherMembers, type RecordContext, reasonOf } from './judge-record.ts';

/** Empty for an organisation of another source, and for a record that came from this feed. */
export function redactionChanges(
  record: JsonObject,
  taken: ReadonlyMap<number, TakenRecord>,
  context: RecordContext,
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
    // Members that cannot be published do not hold up the redaction.
    other: otherMembers(record).members,
  });
  const resource = readResource(record);
  if (resource !== undefined && !context.owns(resource.organisatiecode)) return [];
  const { resourceType } = record;
  // An unknown type may be any known one; where the resource does not exist nothing happens.
  const kinds = isResourceType(resourceType) ? [resourceType] : RESOURCE_TYPES;
  const named = resource === undefined ? [] : kinds.map((kind) => removal(kind, resource));
  if (resource !== undefined && number !== undefined) return named;
  // The resources that only the numbers of a redaction name.
  const byNumber = sourceNumbers
    .flatMap((one) => taken.get(one) ?? [])
    .filter((found) => context.owns(found.resource.organisatiecode));
  return [...named, ...byNumber.map((found) => removal(found.resourceType, found.resource))];
}

/** Carries out the redactions of an invalid response. Earlier ones are skipped: they must not remove later publications. */
export async function carryOutRedactions(
  lease: Lease,
  json: unknown,
  context: RecordContext,
  deps: Dependencies,
): Promise<void> {
  const records = looseRecords(json).filter(({ op }) => op === 'redact');
  if (records.length === 0) return;
  const count = await transaction(deps.pool, async (client) => {
    const taken = await readTaken(client, lease.source, numbersIn(records));
    const missed = records.filter((record) => !isTaken(record, taken));
    const changes = missed.flatMap((record) => redactionChanges(record, taken, context));
    const recorded = await publishChanges(client, changes, deps);
    await updateSource(client, lease, {}, { published: recorded });
    return recorded;
  });
  if (count > 0) await rewriteRedactedFiles(deps);
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

/** The numbers of redactions, and those that they name. */
export function numbersIn(records: readonly JsonObject[]): number[] {
  return records.flatMap((record) => [redactedNumbers(record), sequenceNumberOf(record) ?? []].flat());
}

export function isTaken(record: JsonObject, taken: ReadonlyMap<number, TakenRecord>): boolean {
  const found = taken.get(sequenceNumberOf(record) ?? 0);
  const resource = readResource(record);
  return (
    found?.op === 'redact' &&
    found.resourceType === record.resourceType &&
    found.resource.organisatiecode === resource?.organisatiecode &&
    found.resource.bronidentificatie === resource.bronidentificatie
  );
}

/** A failure is retried at an interval. */
export async function rewriteRedactedFiles({ pool, log }: Pick<Dependencies, 'pool' | 'log'>): Promise<void> {
  await rewritePartitions(pool).catch((error: unknown) =>
    log.warn({ err: error }, 'redacted text is still in files of the database'),
  );
}
