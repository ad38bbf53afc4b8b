/** Reads of the current state by name, for collections. */
import type { Db } from '../../database/transaction.ts';
import type { ResourceType } from '../../lib/feed/resource.ts';
import { dataOf } from '../domain/record-text.ts';
import { FEED_STATE, filterConditions, joinStates, type RecordFilter, readTexts, toFeedState } from './records.ts';

type Collection = RecordFilter & { readonly organisatiecode: string; readonly resourceType: ResourceType };

/** Resources of one kind and organisation: the one with a name, or the first `limit` after one. */
type Wanted = { readonly bronidentificatie: string } | { readonly after: string; readonly limit: number };

/** In the order of their names, as many as `PAGE_OCTETS` allow; none where one is unknown or was removed. */
export async function readCurrent(db: Db, of: Collection, wanted: Wanted) {
  const [name, operator, from, limit] =
    'after' in wanted
      ? (['collection', '>', wanted.after, wanted.limit] as const)
      : (['resource', '=', wanted.bronidentificatie, 1] as const);
  const { suffix, conditions, values } = filterConditions(of, 3);
  const { rows } = await db.query<{ stateOrName: string; number: number | null }>({
    name: `raadsfeed-${name}${suffix}`,
    text: `(select ${FEED_STATE} as "stateOrName", null::bigint as number from raadsfeed.feed)
           union all
           (select bronidentificatie, sequence_number from raadsfeed.current_records
             where bronidentificatie ${operator} $1::text${conditions}
             order by bronidentificatie
             limit $2::integer)`,
    values: [from, limit, ...values],
  });
  const [first, ...rest] = rows;
  const current = rest.flatMap(({ stateOrName: name, number }) => (number === null ? [] : [{ name, number }]));
  const numbers = current.map(({ number }) => number);
  const { state, texts, isCut } = await readTexts(db, numbers);
  const found = current.flatMap(({ name: bronidentificatie, number: sequenceNumber }) => {
    const text = texts.get(sequenceNumber)?.suffix;
    // A text without content was redacted between the two statements.
    if (text === undefined || text === null) return [];
    const resource = { organisatiecode: of.organisatiecode, bronidentificatie };
    return [{ bronidentificatie, dataText: dataOf(text, { resourceType: of.resourceType, resource }) }];
  });
  return {
    state: joinStates(toFeedState(first?.stateOrName), state),
    found,
    isAll: !isCut && current.length < limit,
  };
}
