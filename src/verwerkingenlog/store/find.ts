import type { Db } from '../../database/transaction.ts';
import { moment } from '../../lib/time.ts';
import { type Categorie, categorieNummer, categorieVan } from '../domain/categories.ts';
import type { Cursor } from '../domain/cursor.ts';
import type { StoredVersie } from '../domain/encryption.ts';
import { fromRow, SELECT_VERSIE, type VersieRow } from './versions.ts';

export interface PersonFilter {
  /** Keyed hashes of the person: one for each log key. */
  readonly hashes: readonly string[];
  readonly categorieen: readonly Categorie[];
  /** A row is an action with all positions of the person in it, or each position by itself. */
  readonly per: 'actie' | 'object';
  /** Included; `eind` is not. */
  readonly begin?: string | undefined;
  readonly eind?: string | undefined;
  readonly verwerkingsactiviteitId?: string | undefined;
  readonly without?: readonly string[] | undefined;
}

export interface Location {
  readonly tijdstip: string;
  readonly actieId: string;
  readonly versie: number;
  readonly categorie: Categorie;
  /** Array literal of the positions in `objecten`, counted from 0. */
  readonly positions: string;
}

export const MAX_COUNT = 10_000;

const MATCHES = `
  category = any($1::smallint[])
  and tijdstip >= $2::timestamptz and tijdstip < $3::timestamptz
  and ($4::uuid is null or verwerkingsactiviteit_id = $4::uuid)`;

const leavesOut = ({ without = [] }: PersonFilter, parameter: number): string =>
  without.length === 0 ? '' : ` and actie_id not in (select unnest($${parameter}::uuid[]))`;

/** The rows of each key, each read from its one partition by the index, and then merged. */
function perKey(count: number, rows: (parameter: string) => string): string {
  return Array.from({ length: count }, (_, i) => `(${rows(`$${i + 8}::uuid`)})`).join(' union all ');
}

/** A person can be in one action more than once, in several roles. Per object each of those is a row, in the order of the action. */
const SOURCES = {
  actie: { columns: 'tijdstip, actie_id, versie, category, positions', from: 'verwerkingenlog.locations' },
  object: {
    columns: 'tijdstip, actie_id, versie, category, array[positie] as positions, positie',
    from: 'verwerkingenlog.locations cross join lateral unnest(positions) as o(positie)',
  },
} as const;

function locationsSql(filter: PersonFilter, direction: 'after' | 'before'): string {
  const { hashes, per } = filter;
  const keys = hashes.length;
  // In the order of the list a later row has an earlier moment, or else a higher identity, or else a higher position.
  const [earlier, higher] = direction === 'after' ? ['<', '>'] : ['>', '<'];
  const [down, up] = direction === 'after' ? ['desc', 'asc'] : ['asc', 'desc'];
  const isPerObject = per === 'object';
  const order = `order by tijdstip ${down}, actie_id ${up}${isPerObject ? `, positie ${up}` : ''}`;
  const within = isPerObject ? ` or (actie_id = $6::uuid and positie ${higher} $${keys + 8}::integer)` : '';
  const beyond = `tijdstip ${earlier}= $5::timestamptz
    and (tijdstip ${earlier} $5::timestamptz or actie_id ${higher} $6::uuid${within})`;
  const without = leavesOut(filter, keys + (isPerObject ? 9 : 8));
  const rows = perKey(
    keys,
    (key) => `select ${SOURCES[per].columns} from ${SOURCES[per].from}
      where person_hash = ${key} and ${MATCHES} and ${beyond}${without} ${order} limit $7::integer`,
  );
  return `select tijdstip, actie_id as "actieId", versie, category as categorie, positions::text as positions from (${rows}) as p ${order} limit $7::integer`;
}

/** Newest first, with a `before` cursor the reverse. @param limit maximum number of rows; request one more than a page */
export async function findLocations(
  db: Db,
  filter: PersonFilter,
  cursor: Cursor | undefined,
  limit: number,
): Promise<Location[]> {
  const direction = cursor?.direction ?? 'after';
  const { rows } = await db.query<Omit<Location, 'tijdstip' | 'categorie'> & { tijdstip: Date; categorie: number }>({
    name: `verwerkingenlog-locations-${direction}-${statementOf(filter)}`,
    text: locationsSql(filter, direction),
    values: [
      ...conditions(filter),
      cursor?.key[0] ?? 'infinity',
      cursor?.key[1] ?? '00000000-0000-0000-0000-000000000000',
      limit,
      ...filter.hashes,
      ...(filter.per === 'object' ? [cursor?.key[2] ?? -1] : []),
      ...leftOut(filter),
    ],
  });
  return rows.map((row) => ({ ...row, tijdstip: moment(row.tijdstip), categorie: categorieVan(row.categorie) }));
}

/** Counts no further than `MAX_COUNT`. */
export async function countLocations(db: Db, filter: PersonFilter): Promise<number> {
  const keys = filter.hashes.length;
  const rows = perKey(
    keys,
    (key) =>
      `select 1 from ${SOURCES[filter.per].from} where person_hash = ${key} and ${MATCHES}${leavesOut(filter, keys + 8)} limit $7::integer`,
  );
  const { rows: counts } = await db.query<{ count: number }>({
    name: `verwerkingenlog-count-${statementOf(filter)}`,
    // $5 and $6 are those of the cursor in `findLocations`.
    text: `select count(*) as count from (select 1 from (${rows}) as p where $5::text is null and $6::text is null limit $7::integer) as q`,
    values: [...conditions(filter), null, null, MAX_COUNT, ...filter.hashes, ...leftOut(filter)],
  });
  return counts[0]?.count ?? 0;
}

const statementOf = ({ per, hashes, without = [] }: PersonFilter): string =>
  `${per}-${hashes.length}${without.length === 0 ? '' : '-without'}`;

const leftOut = ({ without = [] }: PersonFilter): unknown[] => (without.length === 0 ? [] : [without]);

function conditions(filter: PersonFilter): unknown[] {
  return [
    filter.categorieen.map(categorieNummer),
    filter.begin ?? '-infinity',
    filter.eind ?? 'infinity',
    filter.verwerkingsactiviteitId ?? null,
  ];
}

/** By a join and a function, which Citus can send to the machines that have one of the actions. */
const READ_LOCATIONS = {
  name: 'verwerkingenlog-read-locations',
  text: `
    select ${SELECT_VERSIE}, verwerkingenlog.objects_at(v.objecten, k.positions::integer[]) as objecten
    from unnest($1::uuid[], $2::integer[], $3::text[]) with ordinality as k(actie_id, versie, positions, rij)
      join verwerkingenlog.versies v on v.actie_id = k.actie_id and v.versie = k.versie and v.actie_id = any($1::uuid[])
        -- Redundant bounds: with them months that the page does not need are not opened.
        and v.actie_id >= $4::uuid and v.actie_id <= $5::uuid
    order by k.rij`,
};

/** Each with only the objects at its positions. */
export async function readVersionsAt(
  db: Db,
  locations: readonly Pick<Location, 'actieId' | 'versie' | 'positions'>[],
): Promise<StoredVersie[]> {
  if (locations.length === 0) return [];
  const ids = locations.map(({ actieId }) => actieId);
  const ordered = ids.toSorted();
  const { rows } = await db.query<VersieRow>({
    ...READ_LOCATIONS,
    values: [
      ids,
      locations.map(({ versie }) => versie),
      locations.map(({ positions }) => positions),
      ordered[0],
      ordered.at(-1),
    ],
  });
  return rows.map(fromRow);
}
