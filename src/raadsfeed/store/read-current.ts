/** Reads of the current state by name, for collections. */
import type { Db } from '../../database/transaction.ts';
import type { ResourceType } from '../../lib/feed/resource.ts';
import { filterConditions, type RecordFilter } from '../domain/record-filter.ts';
import { dataOf } from '../domain/record-text.ts';
import { FEED_STATE, joinStates, type Read, readTexts, toFeedState } from './records.ts';

interface CurrentResource {
  readonly bronidentificatie: string;
  readonly sequenceNumber: number;
  /** `data` as it was published. */
  readonly dataText: string;
}

interface Collection extends RecordFilter {
  readonly organisatiecode: string;
  readonly resourceType: ResourceType;
}

/** The first `limit` resources of one kind and organisation after a name, in the order of their names, or as many as `PAGE_OCTETS` allow. */
export function readCollection(db: Db, of: Collection, after: string, limit: number) {
  return readNamed(db, of, { name: 'collection', operator: '>', bronidentificatie: after, limit });
}

/** One resource as it is now; `undefined` when it is unknown or was removed. */
export async function readResource(
  db: Db,
  { bronidentificatie, ...of }: Collection & { readonly bronidentificatie: string },
): Promise<Read & { resource: CurrentResource | undefined }> {
  const query = { name: 'resource', operator: '=', bronidentificatie, limit: 1 } as const;
  const { state, found } = await readNamed(db, of, query);
  return { state, resource: found[0] };
}

async function readNamed(
  db: Db,
  of: Collection,
  query: {
    readonly name: string;
    readonly operator: '>' | '=';
    readonly bronidentificatie: string;
    readonly limit: number;
  },
): Promise<Read & { found: CurrentResource[]; isAll: boolean }> {
  const { suffix, conditions, values } = filterConditions(of, 3);
  const { rows } = await db.query<{ stateOrName: string; number: number | null }>({
    name: `raadsfeed-${query.name}${suffix}`,
    text: `(select ${FEED_STATE} as "stateOrName", null::bigint as number from raadsfeed.feed)
           union all
           (select bronidentificatie, sequence_number from raadsfeed.current_records
             where bronidentificatie ${query.operator} $1::text${conditions}
             order by bronidentificatie
             limit $2::integer)`,
    values: [query.bronidentificatie, query.limit, ...values],
  });
  const [first, ...rest] = rows;
  const current = rest.flatMap(({ stateOrName: name, number }) => (number === null ? [] : [{ name, number }]));
  const { state, texts, isCut } = await readTexts(
    db,
    current.map(({ number }) => number),
  );
  const found = current.flatMap(({ name: bronidentificatie, number: sequenceNumber }) => {
    const text = texts.get(sequenceNumber)?.suffix;
    // A text without content was redacted between the two statements.
    if (text === undefined || text === null) return [];
    const resource = { organisatiecode: of.organisatiecode, bronidentificatie };
    return [{ bronidentificatie, sequenceNumber, dataText: dataOf(text, { resourceType: of.resourceType, resource }) }];
  });
  return {
    state: joinStates(toFeedState(first?.stateOrName), state),
    found,
    isAll: !isCut && current.length < query.limit,
  };
}
