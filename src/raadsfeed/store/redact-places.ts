import type { Db } from '../../kernel/database/transaction.ts';
import type { Removal } from '../domain/change.ts';
import { redactedPlace } from '../domain/record-text.ts';
import { resourceKey } from '../domain/resource.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import { firstOfPartition, noteRemoved, PARTITION_NUMBERS } from './text-partitions.ts';

interface Place {
  readonly sequence_number: number;
  readonly resource_type: ResourceType;
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
  readonly opgeslagen: Date;
  readonly herkomst_feed: string | null;
  readonly herkomst_nummer: number | null;
}

/** What a redaction came to. */
export interface Redacted {
  /** The numbers whose content is gone, ascending; empty when nothing held content. */
  readonly numbers: readonly number[];
  /** The resources that have no current state any more because of it, by `resourceKey`. */
  readonly gone: readonly string[];
}

/**
 * Takes the content out of every place that a redaction reaches: those of its resource, and those that came from the numbers that its
 * source names. The current state of what they held goes too. The files are written anew later (`rewriteParts`).
 */
export async function redactPlaces(db: Db, redaction: Removal): Promise<Redacted> {
  const places = await findPlaces(db, redaction);
  if (places.length === 0) return { numbers: [], gone: [] };
  const numbers = places.map(({ sequence_number }) => sequence_number);
  const texts = places.map((place) =>
    redactedPlace(
      {
        sequenceNumber: place.sequence_number,
        storedAt: place.opgeslagen.toISOString(),
        resourceType: place.resource_type,
        resource: place,
        herkomst:
          place.herkomst_feed === null || place.herkomst_nummer === null
            ? undefined
            : { feedUrl: place.herkomst_feed, sequenceNumber: place.herkomst_nummer },
      },
      redaction,
    ),
  );
  for (const [first, group] of byPartition(numbers, texts)) {
    await db.query({
      // Without a name: planned for its numbers, so that it locks no other partition.
      text: `update raadsfeed.tekst set kop = plaats.kop, rest = null
               from unnest($1::bigint[], $2::text[]) as plaats (nummer, kop)
              where sequence_number = plaats.nummer and sequence_number >= $3::bigint and sequence_number < $4::bigint`,
      values: [group.numbers, group.texts, first, first + PARTITION_NUMBERS],
    });
  }
  // Behind the texts: who writes a partition anew takes its locks in the same order.
  await noteRemoved(db, numbers);
  const { rows } = await db.query<Pick<Place, 'organisatiecode' | 'resource_type' | 'bronidentificatie'>>({
    name: 'raadsfeed-redact',
    text: `with standen as (
             delete from raadsfeed.stand where sequence_number = any ($1::bigint[])
          returning organisatiecode, resource_type, bronidentificatie
           ), records as (
             update raadsfeed.record set op = 'redact' where sequence_number = any ($1::bigint[])
           )
           select organisatiecode, resource_type, bronidentificatie from standen`,
    values: [numbers],
  });
  return { numbers, gone: rows.map((row) => resourceKey(row.resource_type, row)) };
}

function byPartition(
  numbers: readonly number[],
  texts: readonly string[],
): Map<number, { numbers: number[]; texts: string[] }> {
  const groups = new Map<number, { numbers: number[]; texts: string[] }>();
  for (const [i, number] of numbers.entries()) {
    const first = firstOfPartition(number);
    const group = groups.get(first) ?? { numbers: [], texts: [] };
    group.numbers.push(number);
    group.texts.push(texts[i] ?? '');
    groups.set(first, group);
  }
  return groups;
}

async function findPlaces(db: Db, { resource, resourceType, herkomst, sourceNumbers }: Removal): Promise<Place[]> {
  const { rows } = await db.query<Place>({
    name: 'raadsfeed-redact-places',
    text: `select sequence_number, resource_type, organisatiecode, bronidentificatie, opgeslagen, herkomst_feed, herkomst_nummer
             from raadsfeed.record
            where op = 'upsert' and organisatiecode = $1::text and resource_type = $2::text and bronidentificatie = $3::text
            union
           select sequence_number, resource_type, organisatiecode, bronidentificatie, opgeslagen, herkomst_feed, herkomst_nummer
             from raadsfeed.record
            where op = 'upsert' and herkomst_feed = $4::text and herkomst_nummer = any ($5::bigint[])
              -- A source decides over its own organisation only, whatever numbers it lists.
              and organisatiecode = $1::text
            order by sequence_number`,
    values: [
      resource.organisatiecode,
      resourceType,
      resource.bronidentificatie,
      herkomst?.feedUrl ?? null,
      sourceNumbers ?? [],
    ],
  });
  return rows;
}
