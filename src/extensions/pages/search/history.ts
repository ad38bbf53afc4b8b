/** The history of one resource, from the feed itself. What was redacted has no content here either. */
import type { Db } from '../../../database/transaction.ts';
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { Resource, ResourceType } from '../../../raadsfeed/domain/resource.ts';

export interface HistoryEntry {
  readonly sequenceNumber: number;
  readonly op: 'upsert' | 'delete' | 'redact';
  readonly storedAt: Date;
  /** Members that differ from the version before; `undefined` when that is not known. */
  readonly changed: readonly string[] | undefined;
  readonly verwijderreden: string | undefined;
  readonly toelichting: string | undefined;
}

/** The latest versions that are compared, and the most bytes of one that is: larger ones are listed without their changes. */
const VERSIONS = 20;
const VERSION_BYTES = 200_000;

/** Latest first. @returns empty when the feed has never had the resource */
export async function readHistory(db: Db, resourceType: ResourceType, resource: Resource): Promise<HistoryEntry[]> {
  const key = [resource.organisatiecode, resourceType, resource.bronidentificatie];
  const { rows } = await db.query<{ number: number; op: HistoryEntry['op']; storedAt: Date; text: string | null }>({
    // Without a name: planned for its numbers, so that it opens only the partitions that they lie in.
    text: `select r.sequence_number as number, r.op, r.stored_at as "storedAt", t.text
             from ((select sequence_number, op, stored_at from raadsfeed.record
                     where op = 'upsert' and organisatiecode = $1::text and resource_type = $2::text and bronidentificatie = $3::text
                     order by sequence_number desc limit ${VERSIONS})
                   union all
                   (select sequence_number, op, stored_at from raadsfeed.record
                     where op <> 'upsert' and organisatiecode = $1::text and resource_type = $2::text and bronidentificatie = $3::text
                     order by sequence_number desc limit ${VERSIONS})) r
            cross join lateral (
                  select case when octet_length(record_prefix) + coalesce(octet_length(record_suffix), 0) <= ${VERSION_BYTES} then record_prefix || coalesce(record_suffix, '') end as text
                    from raadsfeed.texts where sequence_number = r.sequence_number offset 0) t
            order by r.sequence_number desc
            limit ${VERSIONS}`,
    values: key,
  });
  const versions = rows.map((row) => ({ ...row, record: row.text === null ? undefined : parse(row.text) }));
  return versions.map(({ number, op, storedAt, record }, i) => {
    const before = versions.slice(i + 1).find((other) => other.op === 'upsert')?.record;
    return {
      sequenceNumber: number,
      ...{ op, storedAt },
      changed: op === 'upsert' ? differences(record?.data, before?.data) : undefined,
      verwijderreden: typeof record?.verwijderreden === 'string' ? record.verwijderreden : undefined,
      toelichting: typeof record?.toelichting === 'string' ? record.toelichting : undefined,
    };
  });
}

function parse(text: string): JsonObject | undefined {
  const record: unknown = JSON.parse(text);
  return isRecord(record) ? record : undefined;
}

/** Members that were added, changed or taken away. */
function differences(now: unknown, before: unknown): string[] | undefined {
  if (!isRecord(now) || !isRecord(before)) return undefined;
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...names].filter(
    (name) => name !== 'gewijzigdop' && JSON.stringify(now[name]) !== JSON.stringify(before[name]),
  );
}
