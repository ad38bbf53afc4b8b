/** The current state of the feed: its resources and organisations. */
import type { Db } from '../../database/transaction.ts';
import { type NamedResource, type Resource, type ResourceType, resourceKey } from '../../lib/feed/resource.ts';
import { dataOf } from '../domain/record-text.ts';
import { FEED_STATE, filterConditions, joinStates, type RecordFilter, readTexts, toFeedState } from './records.ts';

/** Members of rows, each as an array, for `unnest`. */
export function columns<T>(rows: readonly T[], ...members: readonly (keyof T)[]): T[keyof T][][] {
  return members.map((member) => rows.map((row) => row[member]));
}

/** Organisations, kinds and names of resources, for `unnest`. */
export function columnsOf(resources: readonly NamedResource[]) {
  const rows = resources.map(({ resourceType, resource }) => ({ resourceType, ...resource }));
  return columns(rows, 'organisatiecode', 'resourceType', 'bronidentificatie');
}

/** `contentHash` of those of these resources that exist, by `resourceKey`. */
export async function readStateHashes(db: Db, resources: readonly NamedResource[]): Promise<Map<string, string>> {
  const { rows } = await db.query<Resource & { readonly resourceType: ResourceType; readonly hash: string }>({
    name: 'raadsfeed-state-hashes',
    // Looked up row by row: with a free join the planner would read the whole state whenever it lacks statistics.
    text: `select s.organisatiecode, s.resource_type as "resourceType", s.bronidentificatie, s.content_hash as hash
             from unnest($1::text[], $2::text[], $3::text[]) as g (organisatiecode, resource_type, bronidentificatie)
            cross join lateral (select organisatiecode, resource_type, bronidentificatie, content_hash
                                  from raadsfeed.current_records
                                 where current_records.organisatiecode = g.organisatiecode
                                   and current_records.resource_type = g.resource_type
                                   and current_records.bronidentificatie = g.bronidentificatie
                                 limit 1) as s`,
    values: columnsOf(resources),
  });
  return new Map(rows.map(({ resourceType, hash, ...resource }) => [resourceKey({ resourceType, resource }), hash]));
}

export async function readStateOf(
  db: Db,
  organisatiecode: string,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<NamedResource[]> {
  const { rows } = await db.query<{ resourceType: ResourceType; bronidentificatie: string }>(
    `select resource_type as "resourceType", bronidentificatie
       from raadsfeed.current_records
      where organisatiecode = $1::text and sequence_number <= $2::bigint
      order by sequence_number`,
    [organisatiecode, upTo],
  );
  return rows.map(({ resourceType, ...row }) => ({ resourceType, resource: { organisatiecode, ...row } }));
}

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

export interface FeedOrganisation {
  readonly organisatiecode: string;
  readonly naam: string;
  readonly laatstBijgewerkt: Date | null;
  readonly herkomst: string | null;
  readonly herkomstSoort: 'eigen' | 'feed' | 'leveranciers-api';
}

/** The source that an organisation comes from; `null`: not known, or not so. */
export interface SourceCompleteness {
  readonly readAt: Date | null;
  readonly behind: number | null;
  readonly refused: number;
  /** Share of the resources of the supplier that the feed has, in per cent. */
  readonly coverage: number | null;
  readonly failingSince: Date | null;
  /** The suppliers whose systems it is read from, with their days (`YYYY-MM-DD`), the latest first; empty: from a feed. */
  readonly suppliers: readonly { readonly name: string; readonly from: string | null; readonly to: string | null }[];
}

const ORGANISATION = `select organisatiecode, naam, laatst_bijgewerkt as "laatstBijgewerkt", herkomst, herkomst_soort as "herkomstSoort"
  from raadsfeed.organisaties`;

export async function readOrganisations(db: Db): Promise<FeedOrganisation[]> {
  const { rows } = await db.query<FeedOrganisation>({
    name: 'raadsfeed-organisations',
    text: `${ORGANISATION} order by organisatiecode`,
  });
  return rows;
}

export async function readOrganisation(db: Db, organisatiecode: string): Promise<FeedOrganisation | undefined> {
  const { rows } = await db.query<FeedOrganisation>({
    name: 'raadsfeed-organisation',
    text: `${ORGANISATION} where organisatiecode = $1::text`,
    values: [organisatiecode],
  });
  return rows[0];
}

/** This feed's own publisher updated these organisations. @param names by code; one that is new and without a name is not added */
export async function touchOrganisations(
  db: Db,
  names: ReadonlyMap<string, string | undefined>,
  at: Date,
): Promise<void> {
  await db.query({
    name: 'raadsfeed-touch-organisations',
    text: `insert into raadsfeed.organisaties as o (organisatiecode, naam, laatst_bijgewerkt)
           select n.organisatiecode, coalesce(n.naam, b.naam), $3::timestamptz
             from unnest($1::text[], $2::text[]) as n (organisatiecode, naam)
             left join raadsfeed.organisaties b on b.organisatiecode = n.organisatiecode
            where n.naam is not null or b.naam is not null
            order by n.organisatiecode
               on conflict (organisatiecode) do update
              set naam = excluded.naam,
                  laatst_bijgewerkt = greatest(o.laatst_bijgewerkt, excluded.laatst_bijgewerkt)`,
    values: [
      [...names.keys()],
      // A text of the database has no zero bytes; the resource itself keeps its own as JSON writes it.
      [...names].map(([code, naam]) => (naam === undefined ? null : naam.replaceAll('\0', '') || code)),
      at.toISOString(),
    ],
  });
}
