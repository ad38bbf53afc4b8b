/** A log whose clock the test moves over years: months come and go, terms expire. */
import pg from 'pg';
import { createPool } from '../../src/database/pool.ts';
import { createLogger } from '../../src/lib/log.ts';
import { type Pruned, type PruneOptions, prune } from '../../src/verwerkingenlog/store/retention.ts';
import type { Answer } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { type Actie, actie, actieIn, HEADERS, newPerson, startLog } from './support.ts';

export const ALL = [
  'create:confidential',
  'update:confidential',
  'delete:confidential',
  'read:confidential',
  'register:write',
];
export const EIGHTY_YEARS = 80 * 366 * 86_400;

/** Terms as configured by default. */
export const RULES = { minRetention: 'P1Y', retentionGrace: 'P30D', maxRetention: undefined };

export interface Kept extends Actie {
  readonly body: ReturnType<typeof actie>;
  /** The person that it is about. */
  readonly person: string;
}

export interface RetentionLog {
  readonly url: string;
  readonly client: pg.Client;
  /** As the retention role. */
  readonly retention: pg.Pool;
  now(): Date;
  /** Moves the clock: to noon of a day, or to a time. */
  at(time: string | Date): void;
  /** Sets the database's clock, which follows the other one by default, to another time; undefined resets it. */
  databaseAt(time: Date | undefined): void;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  keep(wishes: Record<string, unknown>): Promise<Kept>;
  put(kept: Kept, wishes: object): Promise<Answer>;
  /** Changes the whole processing of an action. */
  patch(kept: Kept, change: object): Promise<Answer>;
  prune(rules?: Partial<PruneOptions['rules']>, more?: Partial<PruneOptions>): Promise<Pruned>;
  versionsOf(actieId: string): Promise<number>;
  months(): Promise<string[]>;
  /** The record of the last run. */
  lastLine(): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Gives new connections a `clock_timestamp()` that the test moves; the database's own timestamps use the real one. */
async function moveClocks(client: pg.Client, at: Date): Promise<void> {
  await client.query(`
    create schema nep;
    grant usage on schema nep to public;
    create table nep.klok (nu timestamptz not null);
    grant select on nep.klok to public;
    create function nep.clock_timestamp() returns timestamptz language sql as 'select nu from nep.klok';
    do $$ begin execute format('alter database %I set search_path = nep, public, pg_catalog', current_database()); end $$;`);
  await client.query('insert into nep.klok values ($1)', [at]);
}

export async function openRetention(start: Date): Promise<RetentionLog> {
  let now = start;
  let databaseTime: Date | undefined;
  const clock = { now: () => now };
  const database = await createDatabase();
  const client = new pg.Client(database.url);
  await client.connect();
  await moveClocks(client, start);
  const log = await startLog({ databaseUrl: database.url, clock, env: { 'verwerkingenlog.logReads': 'false' } });
  const retention = createPool({
    url: database.url,
    size: 1,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 0,
    pooler: 'none',
    role: 'koppelvlak_opschoner',
    applicationName: 'test',
    log: createLogger('silent'),
  });
  /** Waits until the database's clock has moved. */
  const moved = (): Promise<unknown> => client.query('select');
  const call: RetentionLog['call'] = async (method, path, body) => {
    await moved();
    const token = await log.tokens.bearer(ALL, { seconds: EIGHTY_YEARS });
    return log.api.call(method, path, { headers: { ...token, ...HEADERS }, body });
  };
  return {
    url: database.url,
    client,
    retention,
    now: clock.now,
    at(time) {
      now = typeof time === 'string' ? new Date(`${time}T12:00:00Z`) : time;
      void client.query('update nep.klok set nu = $1', [databaseTime ?? now]);
    },
    databaseAt(time) {
      databaseTime = time;
      void client.query('update nep.klok set nu = $1', [databaseTime ?? now]);
    },
    call,
    async keep(wishes) {
      const body = actie(newPerson(), wishes);
      const person = body.verwerkteObjecten[0]?.objectId ?? '';
      return { body, person, ...actieIn(await call('POST', '/verwerkingsacties', body)) };
    },
    put: ({ actieId, body }, wishes) => call('PUT', `/verwerkingsacties/${actieId}`, { ...body, ...wishes }),
    patch: ({ body }, change) => call('PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, change),
    prune: async (rules = {}, more = {}) => {
      await moved();
      return prune({
        pool: retention,
        clock,
        rules: { ...RULES, ...rules },
        dryRun: false,
        signal: new AbortController().signal,
        ...more,
      });
    },
    async versionsOf(actieId) {
      const { rows } = await client.query(
        'select count(*)::int as count from verwerkingenlog.versies where actie_id = $1',
        [actieId],
      );
      return rows[0].count;
    },
    async months() {
      const { rows } = await client.query(
        `select right(inhrelid::regclass::text, 6) as month from pg_inherits where inhparent = 'verwerkingenlog.versies'::regclass order by 1`,
      );
      return rows.map(({ month }) => month);
    },
    async lastLine() {
      const { rows } = await client.query('select * from verwerkingenlog.prune_runs order by number desc limit 1');
      return rows[0];
    },
    async close() {
      await retention.end();
      await client.end();
      await log.stop();
      await database.drop();
    },
  };
}
