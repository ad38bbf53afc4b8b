import type { Pool } from '../../database/pool.ts';
import type { OperatorSection } from '../../seams/operations.ts';

interface Day {
  readonly dag: string;
  readonly variant: string;
  readonly answers: number;
  readonly records: number;
  readonly bytes: number;
  readonly broken: number;
}

/** Deliveries of the last 30 days by day and variant, for the operator's page: how many, never to whom or about whom. */
export function deliveriesSection(pool: Pool): OperatorSection {
  return {
    title: 'Deliveries of the last 30 days',
    read: async () => {
      const { rows } = await pool.query<Day>(
        `select (klaargezet_op at time zone 'Europe/Amsterdam')::date::text as dag, variant, count(*)::float8 as answers,
                sum(records)::float8 as records, sum(bytes)::float8 as bytes,
                count(*) filter (where verzonden_op is null)::float8 as broken
           from gegevens.journaal
          where klaargezet_op > now() - interval '30 days'
          group by 1, 2
          order by 1 desc, 2`,
      );
      return {
        columns: ['day', 'variant', 'answers', 'records', 'MB', 'not sent whole'],
        rows: rows.map(({ dag, variant, answers, records, bytes, broken }) => [
          ...[dag, variant, answers, records, (bytes / 1e6).toFixed(1), broken],
        ]),
      };
    },
  };
}
