/**
 * The log on Citus while it is written and read: a worker is killed and restarted, and a shard is moved. Nothing acknowledged may be
 * missing.
 */
import { exec } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { startChild } from '../../bench/support/children.ts';
import { sampleActie } from '../../bench/support/sample-actie.ts';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { createLogger } from '../../src/lib/log.ts';
import { allowRolesOnNodes, createCitusDatabase, dropCitusDatabase } from '../support/citus.ts';
import { callProgram } from '../support/program.ts';
import { startTokens } from '../support/tokens.ts';

export interface CitusDrillOptions {
  /** Address of the coordinator, as superuser. */
  readonly coordinator: string;
  /** Commands that kill a worker and start it again; absent: none is killed. */
  readonly worker?: { readonly kill: string; readonly start: string } | undefined;
  readonly writers: number;
  /** Load before, during and after the failure, each (milliseconds). */
  readonly loadMs: number;
  readonly report?: (line: string) => void;
}

interface Acknowledged {
  readonly person: string;
  readonly key: string;
  readonly body: string;
  readonly actieId: string;
}

interface Phase {
  readonly name: string;
  /** Number of answers per status, to appends and, as `GET 200`, to readings; 0: the connection was cut. */
  readonly statuses: Readonly<Record<string, number>>;
}

export interface CitusDrillResult {
  readonly phases: readonly Phase[];
  readonly acknowledged: number;
  readonly lost: readonly string[];
  /** Keys that gave a different action when retried. */
  readonly changedReplays: readonly string[];
  /** Milliseconds from the start of the worker to the first action about any person. */
  readonly backAfterMs: number | undefined;
  /** Output of `koppelvlak log verify`. */
  readonly verified: string;
}

const KEY = `drill:${Buffer.alloc(32, 5).toString('base64')}`;
/** Longest wait for the worker to serve again. */
const BACK_MS = 60_000;

export async function runCitusDrill(options: CitusDrillOptions): Promise<CitusDrillResult> {
  const { coordinator, report = () => undefined } = options;
  const name = `koppelvlak_drill_${randomBytes(4).toString('hex')}`;
  const url = await createCitusDatabase(coordinator, name);
  const tokens = await startTokens();
  const db = new pg.Client(url);
  try {
    await migrate({ url, dir: MIGRATIONS, log: createLogger('error'), distributed: true });
    await allowRolesOnNodes(coordinator);
    await db.connect();
    const env = { DATABASE_URL: url, VERWERKINGENLOG_KEY: KEY, ...tokens.env };
    const server = await startChild(new URL('../../bench/support/log-server.ts', import.meta.url), env);
    try {
      const base = `${Object(await server.ask({})).url}/verwerkingenlog/v1/verwerkingsacties`;
      const { authorization } = await tokens.bearer(['create:normal', 'read:normal']);
      const drill = await underLoad(options, { base, authorization, db });
      const { status, stdout } = await callProgram(['log', 'verify'], { DATABASE_URL: url, VERWERKINGENLOG_KEY: KEY });
      const verified = `${status === 0 ? 'ok' : `exit ${status}`}: ${stdout.trim()}`;
      report(`log verify ${verified}`);
      return { ...drill, verified };
    } finally {
      await server.stop();
    }
  } finally {
    await db.end();
    await tokens.close();
    await dropCitusDatabase(coordinator, name);
  }
}

interface Log {
  readonly base: string;
  readonly authorization: string;
  readonly db: pg.Client;
}

async function underLoad(
  { worker, writers, loadMs, report = () => undefined }: CitusDrillOptions,
  log: Log,
): Promise<Omit<CitusDrillResult, 'verified'>> {
  const acknowledged: Acknowledged[] = [];
  const phases: Phase[] = [];
  const phase = async (title: string, during: () => Promise<void>): Promise<void> => {
    const statuses: Record<string, number> = {};
    const end = new AbortController();
    const load = Array.from({ length: writers }, () => write(log, acknowledged, statuses, end.signal));
    try {
      await during();
    } finally {
      end.abort();
      await Promise.all(load);
    }
    phases.push({ name: title, statuses });
    report(
      `${title}: ${Object.entries(statuses)
        .map(([status, count]) => `${status} × ${count}`)
        .join(', ')}`,
    );
  };

  let backAfterMs: number | undefined;
  await phase('all nodes', () => delay(loadMs));
  if (worker !== undefined) {
    await phase('a worker is killed', async () => {
      await promisify(exec)(worker.kill);
      await delay(loadMs);
    });
    await promisify(exec)(worker.start);
    const started = performance.now();
    await untilAllServe(log, acknowledged);
    backAfterMs = performance.now() - started;
    report(`serves all persons again after ${Math.round(backAfterMs)} ms`);
    await phase('the worker is back', () => delay(loadMs));
  }
  await phase('a shard is moved', () => moveShards(log.db));

  const lost = await missing(log.db, acknowledged);
  const changedReplays = await replays(log, acknowledged.slice(-200));
  report(`${acknowledged.length} acknowledged, ${lost.length} lost, ${changedReplays.length} replays that changed`);
  return { phases, acknowledged: acknowledged.length, lost, changedReplays, backAfterMs };
}

async function write(
  log: Log,
  acknowledged: Acknowledged[],
  statuses: Record<string, number>,
  end: AbortSignal,
): Promise<void> {
  const count = (status: string): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  while (!end.aborted) {
    const person = String(100_000_000 + Math.floor(Math.random() * 8e8));
    const one = { person, key: randomUUID(), body: sampleActie(person, 1) };
    const { status, actieId } = await post(log, one);
    count(String(status));
    if (status === 201 && actieId !== undefined) acknowledged.push({ ...one, actieId });
    // A person from before: index row and version may be on different nodes, one of which is down.
    const earlier = acknowledged[Math.floor(Math.random() * acknowledged.length)];
    const read = await readStatus(log, earlier?.person ?? person);
    count(`GET ${read}`);
    // As a client does when told to retry later.
    if (status !== 201 || read !== 200) await delay(50);
  }
}

/** Reads a person's processings. */
async function readStatus({ base, authorization }: Log, person: string): Promise<number> {
  const query = new URLSearchParams({ objecttype: 'persoon', soortObjectId: 'BSN', objectId: person });
  try {
    const response = await fetch(`${base}?${query}&vertrouwelijkheid=normaal`, { headers: { authorization } });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

async function post(
  { base, authorization }: Log,
  { key, body }: Pick<Acknowledged, 'key' | 'body'>,
): Promise<{ status: number; actieId?: string | undefined }> {
  try {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `"${key}"` };
    const response = await fetch(base, { method: 'POST', headers, body });
    const answer: unknown = await response.json();
    const { actieId } = Object(answer);
    return { status: response.status, actieId: typeof actieId === 'string' ? actieId : undefined };
  } catch {
    return { status: 0 };
  }
}

/** Until forty consecutive actions are stored: their persons and identities are spread over all shards. */
async function untilAllServe(log: Log, acknowledged: Acknowledged[]): Promise<void> {
  const deadline = performance.now() + BACK_MS;
  for (let kept = 0; kept < 40; ) {
    if (performance.now() > deadline) throw new Error('the worker does not serve again');
    const person = String(200_000_000 + kept);
    const one = { person, key: randomUUID(), body: sampleActie(person, 1) };
    const { status, actieId } = await post(log, one);
    kept = status === 201 ? kept + 1 : 0;
    if (actieId !== undefined) acknowledged.push({ ...one, actieId });
    if (status !== 201) await delay(50);
  }
}

/** Moves the first shard of the versions, with its colocated tables, to another worker and back. */
async function moveShards(db: pg.Client): Promise<void> {
  const { rows } = await db.query<{ shardid: number; name: string; port: number; to: string; toPort: number }>(
    `select s.shardid, s.nodename as name, s.nodeport as port, n.nodename as to, n.nodeport as "toPort"
     from citus_shards s join pg_dist_node n on n.groupid <> 0 and n.noderole = 'primary' and (n.nodename, n.nodeport) <> (s.nodename, s.nodeport)
     where s.table_name = 'verwerkingenlog.versies'::regclass order by s.shardid, n.nodeid limit 1`,
  );
  const [move] = rows;
  if (move === undefined) throw new Error('no shard can be moved: the cluster has one worker');
  const { shardid, name, port, to, toPort } = move;
  const text = 'select citus_move_shard_placement($1::bigint, $2::text, $3::integer, $4::text, $5::integer)';
  await db.query(text, [shardid, name, port, to, toPort]);
  await db.query(text, [shardid, to, toPort, name, port]);
}

async function missing(db: pg.Client, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const ids = acknowledged.map(({ actieId }) => actieId);
  const { rows } = await db.query<{ id: string }>(
    'select actie_id as id from verwerkingenlog.versies where actie_id = any($1::uuid[])',
    [ids],
  );
  const there = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !there.has(id));
}

async function replays(log: Log, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const changed: string[] = [];
  for (const one of acknowledged) {
    const { actieId } = await post(log, one);
    if (actieId !== one.actieId) changed.push(one.key);
  }
  return changed;
}
