import type { Clock } from '../clock.ts';
import type { ReadinessCheck, ReadinessResult } from '../readiness.ts';
import type { Listener } from './listen.ts';
import { MIGRATIONS, migrationState } from './migrate.ts';
import type { Pool } from './pool.ts';

/** More difference than this, in milliseconds, and moments of this process and of the database cannot be compared. */
const CLOCK_LIMIT_MS = 5000;

interface DatabaseCheckOptions {
  readonly pool: Pool;
  readonly listener: Listener;
  readonly clock: Clock;
  /** What is served: some of it can do without writing. */
  readonly areas: readonly string[];
}

/** What an operator must know of the database, a line each; only what leaves nothing that can be served is wrong, the rest is a warning. */
export function databaseChecks({ pool, listener, clock, areas }: DatabaseCheckOptions): ReadinessCheck[] {
  return [
    {
      name: 'database',
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
    { name: 'database-writable', check: () => checkWritable(pool, areas) },
    { name: 'clock', vital: false, check: () => checkClock(pool, clock) },
    { name: 'listen', vital: false, check: async () => listenState(listener) },
  ];
}

async function checkWritable(pool: Pool, areas: readonly string[]): Promise<ReadinessResult> {
  const { rows } = await pool.query<{ readOnly: boolean; standby: boolean }>(
    `select current_setting('transaction_read_only') = 'on' as "readOnly", pg_is_in_recovery() as standby`,
  );
  const { readOnly = false, standby = false } = rows[0] ?? {};
  if (!readOnly) return { ok: true };
  const reason = `the database takes no changes: it is ${standby ? 'a standby' : 'read-only'}`;
  // Readers of the feed notice nothing; what writes an entry for each answer cannot answer.
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
  // The database read its clock somewhere between the two.
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
      return { ok: true, detail: 'nothing here listens' };
    case 'pooled':
      return { ok: true, detail: 'only a pooler can be reached (DATABASE_LISTEN_URL): changes are looked for instead' };
    case 'lost':
      return { ok: true, warning: 'the connection for LISTEN is lost: changes are looked for until it is back' };
  }
}
