import type { OperatorSection } from '../platform.ts';
import type { Pool } from './pool.ts';
import { transaction } from './transaction.ts';

/** Seconds from which a running statement is shown. */
const SLOW_SECONDS = 1;

/**
 * Statements of this service that have been running for long, for the operator's page: what kind they are, not their text, in which an
 * application could have written values.
 */
export function slowStatements(pool: Pool): OperatorSection {
  return {
    title: `Statements that have been running for more than ${SLOW_SECONDS} s`,
    read: async () => {
      const { rows } = await transaction(
        pool,
        async (client) => {
          // A role sees its own statements only, and those of the service run under its login.
          await client.query('set local role none');
          return await client.query<{ application: string; kind: string; waits: string; seconds: number }>(
            `select application_name as application, lower(coalesce(substring(query from '^\\s*(\\w+)'), '')) as kind,
                coalesce(wait_event_type || ': ' || wait_event, '') as waits,
                extract(epoch from clock_timestamp() - query_start)::float8 as seconds
           from pg_stat_activity
          where datname = current_database() and state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()
            and query_start < clock_timestamp() - make_interval(secs => ${SLOW_SECONDS})
          order by query_start
          limit 50`,
          );
        },
        { readOnly: true },
      );
      return {
        columns: ['application', 'statement', 'waits for', 'seconds'],
        rows: rows.map(({ application, kind, waits, seconds }) => [application, kind, waits, seconds.toFixed(1)]),
      };
    },
  };
}
