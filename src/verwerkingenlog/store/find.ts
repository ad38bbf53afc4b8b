import type { Db } from '../../kernel/database/db.ts';
import { type Categorie, categorieNummer, categorieVan } from '../domain/access.ts';
import type { Cursor } from '../domain/page.ts';
import { moment } from '../domain/verwerkingsactie.ts';
import { fromRow, SELECT_VERSIE, type StoredVersie, type VersieRow } from './versions.ts';

export interface PersonQuestion {
  /** Keyed hashes of the person, one for each key that is in use. */
  readonly hashes: readonly string[];
  readonly categorieen: readonly Categorie[];
  /** What a row is: an action with all places of the person in it, or each place by itself. */
  readonly per: 'actie' | 'object';
  /** From, included. */
  readonly begin?: string | undefined;
  /** To, not included. */
  readonly eind?: string | undefined;
  readonly verwerkingsactiviteitId?: string | undefined;
}

/** Where a person stands in the current version of an action. */
export interface Place {
  readonly tijdstip: string;
  readonly actieId: string;
  readonly versie: number;
  readonly categorie: Categorie;
  /** Array literal of the places in `objecten`, counted from 0. */
  readonly posities: string;
}

/** The count is exact up to here. */
export const MAX_COUNT = 10_000;

const MATCHES = `
  categorie = any($1::smallint[])
  and tijdstip >= $2::timestamptz and tijdstip < $3::timestamptz
  and ($4::uuid is null or verwerkingsactiviteit_id = $4::uuid)`;

/** The rows of each key in the order asked for, each read from its one partition by the index; then merged. */
function perKey(count: number, rows: (parameter: string) => string): string {
  return Array.from({ length: count }, (_, i) => `(${rows(`$${i + 8}::uuid`)})`).join(' union all ');
}

/** A person can stand in one action more than once, in several roles: then each is a row, in the order of the action. */
const SOURCES = {
  actie: { columns: 'tijdstip, actie_id, versie, categorie, posities', from: 'verwerkingenlog.vindplaatsen' },
  object: {
    columns: 'tijdstip, actie_id, versie, categorie, array[plaats] as posities, plaats',
    from: 'verwerkingenlog.vindplaatsen cross join lateral unnest(posities) as o(plaats)',
  },
} as const;

function placesText(keys: number, direction: 'after' | 'before', per: PersonQuestion['per']): string {
  const after = direction === 'after';
  const [columns, down] = per === 'object' ? [', plaats', ', plaats desc'] : ['', ''];
  const order = after ? `order by tijdstip desc, actie_id${columns}` : `order by tijdstip, actie_id desc${down}`;
  const same = (sign: '<' | '>'): string =>
    per === 'object' ? ` or (actie_id = $6::uuid and plaats ${sign} $${keys + 8}::integer)` : '';
  const beyond = after
    ? `tijdstip <= $5::timestamptz and (tijdstip < $5::timestamptz or actie_id > $6::uuid${same('>')})`
    : `tijdstip >= $5::timestamptz and (tijdstip > $5::timestamptz or actie_id < $6::uuid${same('<')})`;
  const rows = perKey(
    keys,
    (key) => `select ${SOURCES[per].columns} from ${SOURCES[per].from}
      where sleutel = ${key} and ${MATCHES} and ${beyond} ${order} limit $7::integer`,
  );
  return `select tijdstip, actie_id as "actieId", versie, categorie, posities::text as posities from (${rows}) as p ${order} limit $7::integer`;
}

/**
 * Where a person stands in current, not deleted actions, newest action first (with a `before` cursor the reverse).
 * @param limit rows at most; ask for one more than a page
 */
export async function findPlaces(
  db: Db,
  question: PersonQuestion,
  cursor: Cursor<readonly string[]> | undefined,
  limit: number,
): Promise<Place[]> {
  const direction = cursor?.direction ?? 'after';
  const { rows } = await db.query<Omit<Place, 'tijdstip' | 'categorie'> & { tijdstip: Date; categorie: number }>({
    name: `verwerkingenlog-places-${direction}-${question.per}-${question.hashes.length}`,
    text: placesText(question.hashes.length, direction, question.per),
    values: [
      ...conditions(question),
      cursor?.key[0] ?? 'infinity',
      cursor?.key[1] ?? '00000000-0000-0000-0000-000000000000',
      limit,
      ...question.hashes,
      ...(question.per === 'object' ? [cursor?.key[2] ?? -1] : []),
    ],
  });
  return rows.map((row) => ({ ...row, tijdstip: moment(row.tijdstip), categorie: categorieVan(row.categorie) }));
}

/** How many rows there are, counted no further than `MAX_COUNT`. */
export async function countPlaces(db: Db, question: PersonQuestion): Promise<number> {
  const keys = question.hashes.length;
  const rows = perKey(
    keys,
    (key) => `select from ${SOURCES[question.per].from} where sleutel = ${key} and ${MATCHES} limit $7::integer`,
  );
  const { rows: counts } = await db.query<{ count: number }>({
    name: `verwerkingenlog-count-${question.per}-${keys}`,
    // $5 and $6 are the cursor's in the statement beside this one.
    text: `select count(*) as count from (select from (${rows}) as p where $5::text is null and $6::text is null limit $7::integer) as q`,
    values: [...conditions(question), null, null, MAX_COUNT, ...question.hashes],
  });
  return counts[0]?.count ?? 0;
}

function conditions(question: PersonQuestion): unknown[] {
  return [
    question.categorieen.map(categorieNummer),
    question.begin ?? '-infinity',
    question.eind ?? 'infinity',
    question.verwerkingsactiviteitId ?? null,
  ];
}

/** The versions at these places, in their order, each with only the objects that the place names. */
export async function readPlaces(
  db: Db,
  places: readonly Pick<Place, 'actieId' | 'versie' | 'posities'>[],
): Promise<StoredVersie[]> {
  if (places.length === 0) return [];
  const ids = places.map(({ actieId }) => actieId);
  const ordered = ids.toSorted();
  const { rows } = await db.query<VersieRow>({
    name: 'verwerkingenlog-read-places',
    text: `
      select ${SELECT_VERSIE},
        -- The list is read once, however many of its objects are of one person.
        (select json_agg(o.object order by o.nummer) from json_array_elements(v.objecten) with ordinality as o(object, nummer)
         where (o.nummer - 1)::integer in (select unnest(k.posities::integer[]))) as objecten
      from unnest($1::uuid[], $2::integer[], $3::text[]) with ordinality as k(actie_id, versie, posities, rij)
        cross join lateral (
          select * from verwerkingenlog.versies w where w.actie_id = k.actie_id and w.versie = k.versie
            -- The bounds say the same once more, so that months in which the page has nothing are not even opened.
            and w.actie_id >= $4::uuid and w.actie_id <= $5::uuid
          -- Each row by its key: without it the planner may read all between the bounds and compare.
          limit 1
        ) as v
      order by k.rij`,
    values: [
      ids,
      places.map(({ versie }) => versie),
      places.map(({ posities }) => posities),
      ordered[0],
      ordered.at(-1),
    ],
  });
  return rows.map(fromRow);
}
