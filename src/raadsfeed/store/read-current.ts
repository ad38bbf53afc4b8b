/** Reads of the current state for collections: what is there now, by name. */
import type { Db } from '../../database/transaction.ts';
import { dataOf } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource.ts';
import { FEED_HEAD, toFeedHead } from './feed-row.ts';
import { findNumbers, joinHeads, type Read, readTexts, type StoredRecord } from './read-records.ts';

/** A resource that is there now. */
export interface CurrentResource {
  readonly bronidentificatie: string;
  readonly sequenceNumber: number;
  /** `data` as it was published. */
  readonly dataText: string;
}

/** The first `limit` resources of one kind and organisation after a name, in the order of their names, or as many as `PAGE_OCTETS` allow. */
export async function readCollection(
  db: Db,
  of: { organisatiecode: string; resourceType: ResourceType },
  after: string,
  limit: number,
): Promise<Read & { found: CurrentResource[]; isAll: boolean }> {
  const { rows } = await db.query<{ name: string; number: number | null }>({
    name: 'raadsfeed-collection',
    text: `(select ${FEED_HEAD} as name, null::bigint as number from raadsfeed.feed)
           union all
           (select bronidentificatie, sequence_number from raadsfeed.current_records
             where organisatiecode = $1::text and resource_type = $2::text and bronidentificatie > $3::text
             order by bronidentificatie
             limit $4::integer)`,
    values: [of.organisatiecode, of.resourceType, after, limit],
  });
  const [first, ...rest] = rows;
  const current = rest.flatMap(({ name, number }) => (number === null ? [] : [{ name, number }]));
  const { head, texts, isCut } = await readTexts(
    db,
    current.map(({ number }) => number),
  );
  const found = current.flatMap(({ name, number }) => {
    const text = texts.get(number);
    // A text without content was redacted between the two statements.
    return text === undefined || text.suffix === null ? [] : [toCurrent(text, text.suffix, name, of)];
  });
  return { head: joinHeads(toFeedHead(first?.name), head), found, isAll: !isCut && current.length < limit };
}

/** One resource as it is now; `undefined` when it is unknown or was removed. */
export async function readResource(
  db: Db,
  of: { organisatiecode: string; resourceType: ResourceType; bronidentificatie: string },
): Promise<Read & { resource: CurrentResource | undefined }> {
  const found = await findNumbers(db, {
    name: 'raadsfeed-resource',
    numbers: `select sequence_number from raadsfeed.current_records
               where organisatiecode = $1::text and resource_type = $2::text and bronidentificatie = $3::text`,
    values: [of.organisatiecode, of.resourceType, of.bronidentificatie],
  });
  const [number] = found.numbers;
  if (number === undefined) return { head: found.head, resource: undefined };
  const { head, texts } = await readTexts(db, [number]);
  const text = texts.get(number);
  const resource =
    text === undefined || text.suffix === null ? undefined : toCurrent(text, text.suffix, of.bronidentificatie, of);
  return { head: joinHeads(found.head, head), resource };
}

function toCurrent(
  { sequenceNumber }: StoredRecord,
  suffix: string,
  bronidentificatie: string,
  { organisatiecode, resourceType }: { organisatiecode: string; resourceType: ResourceType },
): CurrentResource {
  const dataText = dataOf(suffix, { resourceType, resource: { organisatiecode, bronidentificatie } });
  return { bronidentificatie, sequenceNumber, dataText };
}
