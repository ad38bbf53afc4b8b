import type { Db } from '../../kernel/database/db.ts';
import type { FeedPosition } from '../domain/cursor.ts';
import type { RecordText } from '../domain/record-text.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import { type Bounded, type PageRow, pageStatement, readPage, type WholeRow } from './page-budget.ts';
import { partOf } from './text-parts.ts';

/** A record as it is kept: text, never parsed on its way out. */
export interface StoredRecord extends RecordText {
  readonly sequenceNumber: number;
  readonly merk: number;
}

/** Which records are wanted; absent: all. */
export interface RecordFilter {
  readonly organisatiecode?: string | undefined;
  readonly resourceType?: ResourceType | undefined;
}

/** The first `limit` records after a place, up to and including `upTo`, that pass the filter, or as many as `PAGE_OCTETS` allow. */
export async function readFiltered(
  db: Db,
  after: number,
  upTo: number,
  limit: number,
  filter: RecordFilter,
): Promise<Bounded<StoredRecord>> {
  const { organisatiecode, resourceType } = filter;
  // Three texts, so that each has the plan of its own index.
  const [name, condition, values] =
    organisatiecode === undefined
      ? (['type', 'resource_type = $5::text', [resourceType]] as const)
      : resourceType === undefined
        ? (['organisation', 'organisatiecode = $5::text', [organisatiecode]] as const)
        : ([
            'both',
            'organisatiecode = $5::text and resource_type = $6::text',
            [organisatiecode, resourceType],
          ] as const);
  const places = `select sequence_number from raadsfeed.record
                   where sequence_number > $2::bigint and sequence_number <= $3::bigint and ${condition}
                   order by sequence_number
                   limit $4::integer`;
  const { found, isCut } = await readPage(limit, async (careful, octets) => {
    const { rows } = await db.query<PageRow>({
      name: `raadsfeed-filtered-${name}${careful ? '-careful' : ''}`,
      text: pageStatement(careful, { places }),
      values: [octets, after, upTo, limit, ...values],
    });
    return rows;
  });
  return { found: found.map(toStored), isCut };
}

/** The mark of one record; `undefined` when it is not there. */
export async function readMark(db: Db, sequenceNumber: number): Promise<FeedPosition['merk'] | undefined> {
  const { rows } = await db.query<{ merk: number }>({
    name: 'raadsfeed-mark',
    text: 'select merk from raadsfeed.tekst where deel = $1::smallint and sequence_number = $2::bigint',
    values: [partOf(sequenceNumber), sequenceNumber],
  });
  return rows[0]?.merk;
}

function toStored({ sequence_number: sequenceNumber, merk, kop, rest }: WholeRow<PageRow>): StoredRecord {
  return { sequenceNumber, merk, kop, rest };
}
