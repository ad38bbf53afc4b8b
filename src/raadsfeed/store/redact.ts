/**
 * Redaction of any number of resources in a fixed number of statements, because all other writers wait meanwhile: everything that the redactions of a
 * batch can affect is read first, targets are resolved in memory, and then all of it is written.
 */
import type { Db } from '../../database/transaction.ts';
import { resourceKey } from '../../lib/feed/resource.ts';
import type { Removal } from '../domain/change.ts';
import type { RedactedRecord } from '../domain/record-text.ts';
import { columns, columnsOf } from './state.ts';
import { firstOfPartition, markForRewrite, PARTITION_NUMBERS } from './text-partitions.ts';

interface ContentRecord extends RedactedRecord {
  readonly isCurrent?: boolean;
}

/** The records with content that the redactions of one batch can affect: of their resources, and from the numbers that their source names. */
export async function readRedactable(db: Db, redactions: readonly Removal[]) {
  let content: ContentRecord[] = redactions.length === 0 ? [] : await readContent(db, redactions);
  const current = new Map(content.flatMap((one) => (one.isCurrent ? [[resourceKey(one), one.sequenceNumber]] : [])));
  return {
    /** Adds a record that was published in this batch: it is now the current record of its resource. */
    publish(record: ContentRecord): void {
      content.push(record);
      current.set(resourceKey(record), record.sequenceNumber);
    },
    /** Removes the content that a redaction affects, in the order of the numbers; of the resources `gone` it was the current state. */
    take(redaction: Removal) {
      const { resourceType, resource, herkomst: source, sourceNumbers } = redaction;
      const named = new Set(source === undefined ? [] : sourceNumbers);
      const records = content
        // A source decides over its own organisation only, whichever numbers it lists.
        .filter((record) => record.resource.organisatiecode === resource.organisatiecode)
        .filter(
          ({ herkomst, ...record }) =>
            (record.resourceType === resourceType &&
              record.resource.bronidentificatie === resource.bronidentificatie) ||
            (herkomst !== undefined && herkomst.feedUrl === source?.feedUrl && named.has(herkomst.sequenceNumber)),
        )
        .sort((a, b) => a.sequenceNumber - b.sequenceNumber);
      const taken = new Set(records);
      content = content.filter((record) => !taken.has(record));
      const gone = records
        .filter((record) => current.get(resourceKey(record)) === record.sequenceNumber)
        .map(resourceKey);
      return { records, gone };
    },
  };
}

async function readContent(db: Db, redactions: readonly Removal[]): Promise<ContentRecord[]> {
  const sources = redactions.flatMap(({ herkomst, sourceNumbers = [], resource: { organisatiecode } }) =>
    herkomst ? sourceNumbers.map((number) => ({ feedUrl: herkomst.feedUrl, number, organisatiecode })) : [],
  );
  const { rows } = await db.query<ContentRecord & { readonly stored: Date }>({
    // Without a name: planned for the tables as they are. Lookups one by one, or the planner might read all of the index.
    text: `select sequence_number as "sequenceNumber", stored_at as stored, resource_type as "resourceType",
                  json_build_object('organisatiecode', organisatiecode, 'bronidentificatie', bronidentificatie) as resource,
                  case when herkomst_feed is not null then json_build_object('feedUrl', herkomst_feed, 'sequenceNumber', herkomst_number) end as herkomst,
                  exists (select from raadsfeed.current_records s where s.sequence_number = r.sequence_number) as "isCurrent"
             from (select f.*
                     from unnest($1::text[], $2::text[], $3::text[]) as g (organisatiecode, resource_type, bronidentificatie)
                    cross join lateral (
                          select sequence_number, resource_type, organisatiecode, bronidentificatie, stored_at, herkomst_feed, herkomst_number
                            from raadsfeed.records
                           where op = 'upsert' and organisatiecode = g.organisatiecode and resource_type = g.resource_type
                             and bronidentificatie = g.bronidentificatie
                          offset 0) f
                    union
                   select f.*
                     from unnest($4::text[], $5::bigint[], $6::text[]) as g (feed, number, organisatiecode)
                    cross join lateral (
                          select sequence_number, resource_type, organisatiecode, bronidentificatie, stored_at, herkomst_feed, herkomst_number
                            from raadsfeed.records
                           where op = 'upsert' and herkomst_feed = g.feed and herkomst_number = g.number
                             and organisatiecode = g.organisatiecode
                          offset 0) f) r`,
    values: [...columnsOf(redactions), ...columns(sources, 'feedUrl', 'number', 'organisatiecode')],
  });
  return rows.map(({ stored, herkomst, ...record }) => ({
    ...record,
    herkomst: herkomst ?? undefined,
    storedAt: stored.toISOString(),
  }));
}

/** Replaces the texts of stored records, by number, with stubs, and removes the current state that they were. `rewritePartitions` rewrites the files. */
export async function writeRedacted(db: Db, texts: ReadonlyMap<number, string>): Promise<void> {
  if (texts.size === 0) return;
  const numbers = [...texts.keys()].sort((a, b) => a - b);
  for (const [first, ofPartition] of Map.groupBy(numbers, firstOfPartition)) {
    await db.query({
      // Without a name: planned for its numbers, so that it locks no other partition.
      text: `update raadsfeed.texts set record_prefix = redacted.record_prefix, record_suffix = null
               from unnest($1::bigint[], $2::text[]) as redacted (number, record_prefix)
              where sequence_number = redacted.number and sequence_number >= $3::bigint and sequence_number < $4::bigint`,
      values: [ofPartition, ofPartition.map((number) => texts.get(number) ?? ''), first, first + PARTITION_NUMBERS],
    });
  }
  // After the texts: rewriting a partition takes its locks in the same order.
  await markForRewrite(db, numbers);
  await db.query(
    `with standen as (
       delete from raadsfeed.current_records where sequence_number = any ($1::bigint[])
     )
     update raadsfeed.records set op = 'redact', seed = null where sequence_number = any ($1::bigint[])`,
    [numbers],
  );
}
