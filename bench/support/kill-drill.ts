/**
 * Repeatedly kills the server and Postgres under load. Afterwards every acknowledged action must exist exactly once,
 * and its versions must be numbered without a gap.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { startTokens } from '../../test/support/tokens.ts';
import { type Child, startChild } from './children.ts';
import { sampleActie } from './sample-actie.ts';

export interface DrillOptions {
  /** An empty directory for the database. */
  readonly dir: string;
  readonly kills: number;
  readonly writers: number;
  /** Longest time of load before a kill, in milliseconds. */
  readonly longestLoadMs: number;
  readonly report?: (line: string) => void;
  /** Additional settings of the server. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Additional settings of a second instance on the same database, which is killed with the first; without them there
   * is only one.
   */
  readonly second?: Readonly<Record<string, string>>;
  /** Awaited once, between the starts of the first and the second instance. */
  readonly beforeSecond?: () => Promise<void>;
  /** Looks for further faults at the end, while the database is still running. */
  readonly judge?: (databaseUrl: string) => Promise<readonly string[]>;
}

export interface DrillResult {
  readonly acknowledged: number;
  readonly replayed: number;
  readonly changes: number;
  /** Faults found; empty when all is well. */
  readonly faults: readonly string[];
}

/** An action as its writer knows it. */
interface Written {
  readonly key: string;
  readonly body: string;
  actieId?: string;
  /** Highest acknowledged version. */
  version: number;
}

/** Runs the drill; the result lists its findings. */
export async function runKillDrill(options: DrillOptions): Promise<DrillResult> {
  const tokens = await startTokens();
  const { authorization } = await tokens.bearer(['create:normal', 'update:normal']);
  const written: Written[] = [];
  const firstAnswer = Promise.withResolvers<void>();
  let replayed = 0;
  let changes = 0;
  let postgres = await startEmbedded({ dir: options.dir, log: createLogger('silent') });
  const env = { ...tokens.env, ...options.env };
  const startFirst = (): Promise<Child> => startServer(postgres, env);
  const startSecond = async (): Promise<Child[]> =>
    options.second === undefined ? [] : [await startServer(postgres, { ...env, ...options.second })];
  let servers = [await startFirst()];
  await options.beforeSecond?.();
  servers.push(...(await startSecond()));
  try {
    for (let kill = 1; kill <= options.kills; kill += 1) {
      const addresses = await Promise.all(
        servers.map(async (server) => `${Object(await server.ask({})).url}/verwerkingenlog/v1/verwerkingsacties`),
      );
      const anyAddress = (): string => addresses[randomInt(addresses.length)] ?? '';
      let stopped = false;
      const send = (address: string, method: string, body: string, key?: string): Promise<unknown> =>
        answer(
          fetch(address, {
            method,
            headers: {
              authorization,
              'content-type': 'application/json',
              ...(key === undefined ? {} : { 'idempotency-key': key }),
            },
            body,
          }),
        );
      const write = async (one: Written): Promise<void> => {
        one.actieId = String(Object(await send(anyAddress(), 'POST', one.body, one.key)).actieId);
        one.version = Math.max(one.version, 1);
        firstAnswer.resolve();
      };
      // Retry the requests in flight at the last kill, as a client would.
      for (const one of written.filter(({ actieId }) => actieId === undefined)) {
        await write(one);
        replayed += 1;
      }
      const writers = Array.from({ length: options.writers }, async () => {
        while (!stopped) {
          const one: Written = {
            key: randomUUID(),
            body: sampleActie(String(randomInt(1e8, 1e9)), randomInt(1e9)),
            version: 0,
          };
          written.push(one);
          await write(one);
          if (randomInt(4) > 0) continue;
          await send(`${anyAddress()}/${one.actieId}`, 'PUT', complete(one.body));
          one.version = 2;
          changes += 1;
        }
      }).map((writer) => writer.catch(() => undefined));
      // A drill without acknowledgements proves nothing.
      await Promise.race([firstAnswer.promise, Promise.all(writers)]);
      await sleep(randomInt(options.longestLoadMs));
      // In random order.
      const victims = [...servers.map((server) => server.kill), () => killPostgres(options.dir)];
      while (victims.length > 0) await victims.splice(randomInt(victims.length), 1)[0]?.();
      stopped = true;
      await Promise.all(writers);
      await postgres.exited;
      postgres = await startEmbedded({ dir: options.dir, log: createLogger('silent') });
      servers = (await Promise.all([startFirst().then((first) => [first]), startSecond()])).flat();
      options.report?.(
        `kill ${kill}: ${written.filter(({ actieId }) => actieId !== undefined).length} actions acknowledged`,
      );
    }
    const faults = [...(await findFaults(postgres.url, written)), ...((await options.judge?.(postgres.url)) ?? [])];
    const acknowledged = written.filter(({ actieId }) => actieId !== undefined).length;
    return { acknowledged, replayed, changes, faults };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.stop();
    await tokens.close();
  }
}

function startServer(postgres: EmbeddedPostgres, env: Readonly<Record<string, string>>): Promise<Child> {
  return startChild(new URL('log-server.ts', import.meta.url), {
    ...env,
    NODE_ENV: 'test',
    'server.overloadEventLoopDelayMs': '0',
    DATABASE_URL: postgres.url,
    VERWERKINGENLOG_KEY: `drill:${Buffer.alloc(32, 3).toString('base64')}`,
  });
}

async function answer(call: Promise<Response>): Promise<unknown> {
  const response = await call;
  if (!response.ok) throw new Error(`answered ${response.status}`);
  return response.json();
}

/** The body with every field, which a replacement requires. */
function complete(body: string): string {
  const empty = {
    verwerkingsactiviteitUrl: null,
    soortAfnemerId: null,
    afnemerId: null,
    verwerkingsactiviteitIdAfnemer: null,
  };
  return JSON.stringify({
    ...empty,
    verwerkingsactiviteitUrlAfnemer: null,
    verwerkingIdAfnemer: null,
    ...JSON.parse(body),
  });
}

async function killPostgres(dir: string): Promise<void> {
  const [pid = ''] = (await readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
  process.kill(Number(pid), 'SIGKILL');
}

async function findFaults(url: string, written: readonly Written[]): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ actie: string; versions: number[]; sleutel: string | null }>(
    `select actie_id as actie, array_agg(versie order by versie) as versions from verwerkingenlog.versies group by actie_id`,
  );
  const { rows: places } = await client.query<{ count: number }>(
    'select count(*)::int as count from verwerkingenlog.locations',
  );
  await client.end();
  const kept = new Map(rows.map(({ actie, versions }) => [actie, versions]));
  const faults: string[] = [];
  for (const { actieId, version } of written) {
    const versions = actieId === undefined ? [] : kept.get(actieId);
    if (versions === undefined) faults.push(`${actieId} was acknowledged and does not exist`);
    else if (versions.length < version) faults.push(`${actieId} lost version ${version}`);
  }
  for (const [actie, versions] of kept) {
    if (versions.some((version, i) => version !== i + 1)) faults.push(`${actie} has versions ${versions.join(', ')}`);
  }
  // Every key was eventually acknowledged or never arrived, so more actions than keys means a duplicate.
  if (kept.size > written.length) faults.push(`${kept.size} actions of ${written.length} requests`);
  const ids = new Set(written.map(({ actieId }) => actieId));
  const strangers = [...kept.keys()].filter((actie) => !ids.has(actie)).length;
  const open = written.filter(({ actieId }) => actieId === undefined).length;
  if (strangers > open) faults.push(`${strangers} unknown actions, of ${open} unanswered requests`);
  if (places[0]?.count !== kept.size) faults.push(`${places[0]?.count} places of ${kept.size} actions`);
  return faults;
}
