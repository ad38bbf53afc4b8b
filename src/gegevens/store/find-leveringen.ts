import type { Db } from '../../kernel/database/transaction.ts';
import type { Deliverer } from '../domain/choose-leveringen.ts';
import type { Levering, Period } from '../domain/levering.ts';
import type { Filter } from '../domain/request.ts';
import { LEVERING_COLUMNS, type LeveringRow, toLevering } from './levering-row.ts';

/** Organisation, then period, then the order of the file; the same on every call. */
const ORDER = `l.naam_sleutel collate "C" nulls last, l.organisatie_sleutel collate "C", l.periode_start, l.periode_einde,
  l.invoer_id, l.nummer`;

/** What is delivered now of the organisations asked for, in the model that is answered with. */
const ASKED = `variant = $1::text and model_versie = $2::text and vervallen_op is null
  and ($3::text is null or naam_sleutel = $3::text or kvk_nummer = $4::text or gemeente_sleutel = $5::text)`;

function askedValues({ variant, model, organisatie }: Filter): unknown[] {
  return [variant, model, organisatie?.naam ?? null, organisatie?.kvk ?? null, organisatie?.gemeente ?? null];
}

export interface Asked {
  /** By organisation and municipality; empty when nothing is delivered for those asked for. */
  readonly deliverers: readonly Deliverer[];
  /** The reporting period that ends last among them, and of those that which starts last. */
  readonly recent: Period | undefined;
}

/** Who this supplier delivers for, among those asked for. */
export async function findAsked(db: Db, filter: Filter): Promise<Asked> {
  const { rows } = await db.query<{
    organisatie_sleutel: string;
    naam: string | null;
    gemeente_sleutel: string | null;
    recent: string[];
  }>({
    name: 'gegevens-find-asked',
    text: `select organisatie_sleutel, gemeente_sleutel, max(naam) as naam,
        max(array[periode_einde, periode_start])::text[] as recent
      from gegevens.leveringen where ${ASKED}
      group by organisatie_sleutel, gemeente_sleutel
      order by max(naam_sleutel) collate "C" nulls last, organisatie_sleutel collate "C", gemeente_sleutel`,
    values: askedValues(filter),
  });
  const [last] = rows.map(({ recent: [end = '', start = ''] }) => ({ start, end })).toSorted(byEndThenStart);
  return {
    recent: last,
    deliverers: rows.map((row) => ({
      organisatieSleutel: row.organisatie_sleutel,
      naam: row.naam ?? undefined,
      gemeenteSleutel: row.gemeente_sleutel ?? undefined,
    })),
  };
}

function byEndThenStart(a: Period, b: Period): number {
  const [left, right] = [`${a.end} ${a.start}`, `${b.end} ${b.start}`];
  return left < right ? 1 : -Number(left > right);
}

/** The current leveringen of those asked for whose period overlaps, in the order in which they are delivered. */
export async function findLeveringen(db: Db, filter: Filter, { start, end }: Period): Promise<Levering[]> {
  const { rows } = await db.query<LeveringRow>({
    name: 'gegevens-find-leveringen',
    text: `select ${LEVERING_COLUMNS} from gegevens.leveringen l
      where ${ASKED} and periode_start <= $7::date and periode_einde >= $6::date
      order by ${ORDER}`,
    values: [...askedValues(filter), start, end],
  });
  return rows.map(toLevering);
}

/** The newest levering of each organisation and municipality asked for, of whatever period: who an answer without records names. */
export async function findOrganisations(db: Db, filter: Filter): Promise<Levering[]> {
  const { rows } = await db.query<LeveringRow>({
    name: 'gegevens-find-organisations',
    text: `select ${LEVERING_COLUMNS} from (
        select distinct on (organisatie_sleutel, gemeente_sleutel) * from gegevens.leveringen
        where ${ASKED}
        order by organisatie_sleutel, gemeente_sleutel, periode_einde desc, id desc
      ) l
      order by ${ORDER}`,
    values: askedValues(filter),
  });
  return rows.map(toLevering);
}
