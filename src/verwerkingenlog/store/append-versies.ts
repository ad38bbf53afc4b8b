import { arrayLiteral } from '../../kernel/database/array-literal.ts';
import type { Db } from '../../kernel/database/db.ts';
import { placesByPerson, type StoredVersie } from './stored-versie.ts';
import { VERSIE_COLUMNS, VERSIE_NAMES } from './versie-columns.ts';

/** A version to be kept, with the idempotency key of its request when it has one. */
export interface Append {
  readonly versie: StoredVersie;
  readonly idempotency?: { readonly key: string; readonly content: string } | undefined;
}

export interface Appended {
  /** False: its idempotency key was used in the last 24 hours, or its activity is unknown and that is refused. */
  readonly kept: boolean;
  /** It names an activity that is not in the register. */
  readonly unknownActivity: boolean;
}

/**
 * Adds first versions and versions that follow on others, all or none of them, with where their persons stand. No two may have the
 * same idempotency key. One statement: outside a transaction it is committed when this resolves.
 * @returns what became of each, in the order given
 * @throws {DatabaseError} 23514 when a month has no partition yet, 23505 when a version exists
 */
export async function appendVersies(
  db: Db,
  appends: readonly Append[],
  options: { readonly refuseUnknownActivity: boolean },
): Promise<Appended[]> {
  const places = appends.flatMap(({ versie }, row) =>
    versie.vervallen ? [] : [...placesByPerson(versie)].map(([key, at]) => ({ row, key, at: `{${at.join(',')}}` })),
  );
  const [first] = appends;
  const { rows } = await db.query<Appended>({
    ...(appends.length === 1 ? APPEND_ONE : APPEND_MANY),
    values: [
      arrayLiteral(places.map(({ row }) => row)),
      arrayLiteral(places.map(({ key }) => key)),
      arrayLiteral(places.map(({ at }) => at)),
      options.refuseUnknownActivity,
      // A lone row is given as it is, many as a list of each column.
      ...INPUT.map(([, read]) =>
        first !== undefined && appends.length === 1 ? read(first, 0) : arrayLiteral(appends.map(read)),
      ),
    ],
  });
  return rows;
}

/** What a row of the input has: kind, and where it comes from. */
const INPUT: readonly (readonly [string, (append: Append, row: number) => string | number | boolean | null])[] = [
  ['integer', (_, row) => row],
  ['uuid', ({ idempotency }) => idempotency?.key ?? null],
  ['uuid', ({ idempotency }) => idempotency?.content ?? null],
  ['json', ({ versie }) => JSON.stringify(versie.objecten)],
  ...VERSIE_COLUMNS.map(([, kind, member]) => [kind, ({ versie }: Append) => versie[member]] as const),
];
const FIRST_COLUMN = 5;
const parameters = (list: '' | '[]'): string =>
  INPUT.map(([kind], i) => `$${FIRST_COLUMN + i}::${kind}${list}`).join(', ');

/** Keys are taken in order, so that two groups never wait for each other in a circle. */
const append = (source: string): string => `
  with invoer as materialized (
    select i.*, a.verwerkingsactiviteit_id is null and i.verwerkingsactiviteit_id is not null as onbekend
    from ${source}
      as i(rij, idempotentie, inhoud, objecten, ${VERSIE_NAMES})
      left join verwerkingenlog.verwerkingsactiviteiten a using (verwerkingsactiviteit_id)
  ), sleutels as (
    insert into verwerkingenlog.idempotentie as oud (sleutel, inhoud, actie_id, tijdstip)
    select idempotentie, inhoud, actie_id, tijdstip_registratie from invoer
    where idempotentie is not null and not ($4::boolean and onbekend) order by idempotentie
    on conflict (sleutel) do update set inhoud = excluded.inhoud, actie_id = excluded.actie_id, tijdstip = excluded.tijdstip
      where oud.tijdstip <= excluded.tijdstip - interval '24 hours'
    returning actie_id
  ), nieuw as materialized (
    select *, verwerkingenlog.vervalt_op(tijdstip, bewaartermijn) as vervalt_op from invoer
    where not ($4::boolean and onbekend) and (idempotentie is null or actie_id in (select actie_id from sleutels))
  ), versies as (
    insert into verwerkingenlog.versies (${VERSIE_NAMES}, objecten, vervalt_op)
    select ${VERSIE_NAMES}, objecten, vervalt_op from nieuw
  ), plaatsen as (
    insert into verwerkingenlog.vindplaatsen
      (sleutel, tijdstip, actie_id, versie, categorie, verwerkingsactiviteit_id, vervalt_op, posities)
    select p.sleutel, n.tijdstip, n.actie_id, n.versie, verwerkingenlog.categorie(n.vertrouwelijkheid, n.ooit_vertrouwelijk),
      n.verwerkingsactiviteit_id, n.vervalt_op, p.posities::integer[]
    from unnest($1::integer[], $2::uuid[], $3::text[]) as p(rij, sleutel, posities) join nieuw n using (rij)
  )
  select i.rij in (select rij from nieuw) as kept, i.onbekend as "unknownActivity" from invoer i order by i.rij`;

const APPEND_MANY = { name: 'verwerkingenlog-append', text: append(`unnest(${parameters('[]')})`) };
/** A lone row costs less when its columns are no lists. */
const APPEND_ONE = { name: 'verwerkingenlog-append-one', text: append(`(values (${parameters('')}))`) };
