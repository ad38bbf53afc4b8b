import type { ReadinessResult } from '../readiness.ts';
import { migrationState } from './migrate.ts';
import { MIGRATIONS } from './migrations-directory.ts';
import type { Pool } from './pool.ts';

/** What must be right about the database before work is sent here: it answers, and has the form that this program knows. */
export function databaseChecks(pool: Pool): { name: string; check: () => Promise<ReadinessResult> }[] {
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
  ];
}
