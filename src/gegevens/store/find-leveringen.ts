import type { Db } from '../../kernel/database/db.ts';
import type { Levering } from '../domain/levering.ts';
import type { Filter } from '../domain/request.ts';
import { LEVERING_COLUMNS, type LeveringRow, toLevering } from './levering-row.ts';

/** Organisation, then period, then the order of the file; the same on every call. */
const ORDER = `l.naam_sleutel collate "C" nulls last, l.organisatie_sleutel collate "C", l.periode_start, l.periode_einde,
  l.invoer_id, l.nummer`;

/**
 * The current leveringen that are asked for, in the order in which they are delivered. Without dates: those of the most recent
 * period (latest end, then latest start) among the organisations asked for; with: those whose period lies within.
 */
export async function findLeveringen(db: Db, filter: Filter): Promise<Levering[]> {
  const { variant, organisatie, periodeStart, periodeEinde } = filter;
  const { rows } = await db.query<LeveringRow>({
    name: 'gegevens-find-leveringen',
    text: `with gevraagd as (
        select * from gegevens.leveringen
        where variant = $1::text and vervallen_op is null
          and ($2::text is null or naam_sleutel = $2::text or kvk_nummer = $3::text or gemeente_sleutel = $4::text)
      ), recent as (
        select periode_start, periode_einde from gevraagd order by periode_einde desc, periode_start desc limit 1
      )
      select ${LEVERING_COLUMNS} from gevraagd l
      where case when $5::date is null and $6::date is null
        then (l.periode_start, l.periode_einde) = (select periode_start, periode_einde from recent)
        else l.periode_start >= coalesce($5::date, '-infinity') and l.periode_einde <= coalesce($6::date, 'infinity') end
      order by ${ORDER}`,
    values: [
      variant,
      organisatie?.naam ?? null,
      organisatie?.kvk ?? null,
      organisatie?.gemeente ?? null,
      periodeStart ?? null,
      periodeEinde ?? null,
    ],
  });
  return rows.map(toLevering);
}

/** The newest levering of each organisation asked for, of whatever period: who this supplier delivers for. */
export async function findOrganisations(db: Db, { variant, organisatie }: Filter): Promise<Levering[]> {
  const { rows } = await db.query<LeveringRow>({
    name: 'gegevens-find-organisations',
    text: `select ${LEVERING_COLUMNS} from (
        select distinct on (organisatie_sleutel) * from gegevens.leveringen
        where variant = $1::text and vervallen_op is null
          and ($2::text is null or naam_sleutel = $2::text or kvk_nummer = $3::text or gemeente_sleutel = $4::text)
        order by organisatie_sleutel, periode_einde desc, id desc
      ) l
      order by ${ORDER}`,
    values: [variant, organisatie?.naam ?? null, organisatie?.kvk ?? null, organisatie?.gemeente ?? null],
  });
  return rows.map(toLevering);
}
