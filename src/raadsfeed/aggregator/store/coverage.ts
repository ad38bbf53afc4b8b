import type { Db } from '../../../kernel/database/transaction.ts';
import type { Coverage, MonthCoverage } from '../measure-coverage.ts';
import type { DateWindow } from '../source-adapter.ts';

/** Names of missing resources that are kept of a month; the counts are always whole. */
const MAX_MISSING = 1000;

/** Which of these keys (`<resourceType>/<bronidentificatie>`) the feed has of an organisation. */
export async function readHeldKeys(
  db: Db,
  organisatiecode: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ key: string }>({
    name: 'aggregator-held-keys',
    text: `select k.key from unnest($2::text[], $3::text[], $4::text[]) as k (key, resource_type, bronidentificatie)
             join raadsfeed.stand s on s.organisatiecode = $1::text
                  and s.resource_type = k.resource_type and s.bronidentificatie = k.bronidentificatie`,
    values: [
      organisatiecode,
      keys,
      keys.map((key) => key.slice(0, key.indexOf('/'))),
      keys.map((key) => key.slice(key.indexOf('/') + 1)),
    ],
  });
  return new Set(rows.map(({ key }) => key));
}

/** Keeps a measurement in the place of the one before, of the months that lie in the window as a whole. */
export async function saveCoverage(
  db: Db,
  sourceId: number,
  { months }: Coverage,
  window: DateWindow,
  at: Date,
): Promise<void> {
  const whole = months.filter(({ month }) => isWhole(month, window));
  await db.query({
    name: 'aggregator-clear-coverage',
    text: `delete from aggregator.dekking
            where bron_id = $1::integer and to_date(maand, 'YYYY-MM') >= $2::date
              and to_date(maand, 'YYYY-MM') + interval '1 month' - interval '1 day' <= $3::date`,
    values: [sourceId, window.from, window.to],
  });
  for (const { month, shown, held, unnamed, missing } of whole) {
    await db.query({
      name: 'aggregator-save-coverage',
      text: `insert into aggregator.dekking (bron_id, maand, getoond, aanwezig, naamloos, ontbreekt, gemeten)
             values ($1::integer, $2::text, $3::integer, $4::integer, $5::integer, $6::text[], $7::timestamptz)`,
      values: [sourceId, month, shown, held, unnamed, missing.slice(0, MAX_MISSING), at.toISOString()],
    });
  }
}

/** The last measurement of a source, by month. */
export async function readCoverage(db: Db, sourceId: number): Promise<(MonthCoverage & { readonly measured: Date })[]> {
  const { rows } = await db.query<MonthCoverage & { readonly measured: Date }>({
    name: 'aggregator-coverage',
    text: `select maand as month, getoond as shown, aanwezig as held, naamloos as unnamed, ontbreekt as missing, gemeten as measured
             from aggregator.dekking
            where bron_id = $1::integer
            order by maand`,
    values: [sourceId],
  });
  return rows;
}

function isWhole(month: string, { from, to }: DateWindow): boolean {
  const [year = 0, number = 0] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  return `${month}-01` >= from && last <= to;
}
