import type { OperatorSection, ReadinessCheck, ReadinessResult } from '../lib/operations.ts';
import type { Clock } from '../lib/time.ts';
import type { Listener } from './listen.ts';
import { MIGRATIONS, migrationState } from './migrate.ts';
import type { Database } from './open-database.ts';
import type { Pool } from './pool.ts';
import { type Db, transaction } from './transaction.ts';

const SLOW_SECONDS = 1;

/** Long-running statements of this service for the operator's page: their kind, not their text, which may contain values. */
export function slowStatements(pool: Pool): OperatorSection {
  return {
    title: `Statements that have been running for more than ${SLOW_SECONDS} s`,
    read: async () => {
      const { rows } = await transaction(
        pool,
        async (client) => {
          // A role sees only its own statements, and the service's run under its login.
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

/** With a larger difference (milliseconds), times of this process and of the database cannot be compared. */
const CLOCK_LIMIT_MS = 5000;

interface DatabaseCheckNeeds {
  readonly database: Pick<Database, 'pool' | 'listener'>;
  readonly clock: Clock;
  readonly areas: readonly string[];
}

/** The readiness checks. Only conditions that leave nothing to serve fail; the others are warnings. */
export function databaseChecks({ database, clock, areas }: DatabaseCheckNeeds): ReadinessCheck[] {
  const { pool, listener } = database;
  return [
    {
      name: 'database',
      runbook: 'koppelvlakerrors',
      check: async () => {
        await pool.query('select 1');
        return { ok: true };
      },
    },
    {
      name: 'migrations',
      check: async () => {
        const { pending, unknown } = await migrationState(pool, MIGRATIONS);
        if (pending.length > 0) return { ok: false, detail: `to be applied: ${pending.join(', ')}` };
        return unknown.length === 0
          ? { ok: true }
          : { ok: true, warning: `newer than this program: ${unknown.join(', ')}` };
      },
    },
    { name: 'database-writable', runbook: 'koppelvlakerrors', check: () => checkWritable(pool, areas) },
    { name: 'clock', vital: false, check: () => checkClock(pool, clock) },
    { name: 'listen', vital: false, runbook: 'koppelvlakfeedapart', check: async () => listenState(listener) },
  ];
}

async function checkWritable(pool: Pool, areas: readonly string[]): Promise<ReadinessResult> {
  const { rows } = await pool.query<{ readOnly: boolean; standby: boolean }>(
    `select current_setting('transaction_read_only') = 'on' as "readOnly", pg_is_in_recovery() as standby`,
  );
  const { readOnly = false, standby = false } = rows[0] ?? {};
  if (!readOnly) return { ok: true };
  const reason = `the database takes no changes: it is ${standby ? 'a standby' : 'read-only'}`;
  // Reads of the feed are unaffected; the other areas write an entry for each answer.
  return areas.includes('raadsfeed')
    ? { ok: true, warning: `${reason}; only the council feed is served` }
    : { ok: false, detail: reason };
}

async function checkClock(pool: Pool, clock: Clock): Promise<ReadinessResult> {
  const asked = clock.now().getTime();
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from clock_timestamp())::float8 * 1000 as ms`,
  );
  const answered = clock.now().getTime();
  const ms = rows[0]?.ms ?? Number.NaN;
  // The database read its clock between the two.
  const difference = ms < asked ? asked - ms : Math.max(0, ms - answered);
  if (difference <= CLOCK_LIMIT_MS) return { ok: true };
  const seconds = (difference / 1000).toFixed(1);
  return { ok: true, warning: `${seconds} s ${ms < asked ? 'ahead of' : 'behind'} the clock of the database` };
}

function listenState(listener: Listener): ReadinessResult {
  switch (listener.state()) {
    case 'live':
      return { ok: true };
    case 'unused':
      return { ok: true, detail: 'not needed by the areas served' };
    case 'pooled':
      return { ok: true, detail: 'only a pooler can be reached (DATABASE_LISTEN_URL): the feed is polled instead' };
    case 'lost':
      return { ok: true, warning: 'the LISTEN connection is lost: the feed is polled until it is back' };
  }
}

/** Call it before anything is removed by age, which cannot be undone. @throws {Error} when this clock is over 5 seconds ahead of the database's */
export async function refuseClockAhead(db: Db, now: Date): Promise<void> {
  const { rows } = await db.query<{ ahead: number }>(
    'select (extract(epoch from $1::timestamptz - clock_timestamp()) * 1000)::float8 as ahead',
    [now],
  );
  const ahead = rows[0]?.ahead ?? Number.POSITIVE_INFINITY;
  if (ahead <= CLOCK_LIMIT_MS) return;
  throw new Error(
    `the clock of this machine is ${Math.ceil(ahead / 1000)} seconds ahead of the database's: nothing was removed`,
  );
}
