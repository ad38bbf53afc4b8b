/**
 * A primary and its standby, two real Postgres servers on this machine; the primary can be killed as by a power cut.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { freePort } from '../../test/support/free-port.ts';

export type Replication = 'synchronous' | 'asynchronous';

export interface Pair {
  /** HAProxy in front of both. */
  readonly url: string;
  readonly primary: EmbeddedPostgres;
  readonly standby: EmbeddedPostgres;
  /** Makes the standby stop receiving, as on a slow network; returns a function that resumes it. */
  holdReplication(): Promise<() => void>;
  /** Kills every process of the primary at once. */
  killPrimary(): Promise<void>;
  promote(): Promise<void>;
  stop(): Promise<void>;
}

const log = createLogger('silent');
/** How long the standby may take to connect, in milliseconds. */
const CONNECT_MS = 30_000;

/** Creates both in a directory, with the service's tables and a following standby. */
export async function startPair(dir: string, replication: Replication): Promise<Pair> {
  const [primaryDir, standbyDir] = [join(dir, 'primary'), join(dir, 'standby')];
  const first = await startEmbedded({ dir: primaryDir, log });
  await migrate({ url: first.url, dir: MIGRATIONS, log });
  await first.stop();
  await copyServer(primaryDir, standbyDir);
  const primary = await startEmbedded({
    dir: primaryDir,
    log,
    settings: {
      ...(await settingsOf('primary.conf')),
      ...(replication === 'synchronous' ? {} : { synchronous_standby_names: '' }),
    },
  });
  const host = new URL(primary.url).searchParams.get('host') ?? '';
  const standbySettings = await settingsOf('standby.conf');
  const standby = await startEmbedded({
    dir: standbyDir,
    log,
    settings: {
      ...standbySettings,
      primary_conninfo: String(standbySettings.primary_conninfo)
        .replace('host=db1', `host=${host}`)
        .replace('user=replicator', 'user=koppelvlak'),
    },
  });
  await waitForStandby(primary.url, replication);
  const proxy = await startProxy(dir, [primary, standby]);
  return {
    url: proxy.url,
    primary,
    standby,
    holdReplication: () => holdReceiver(standby.url),
    async killPrimary() {
      await killTree(join(primaryDir, 'postgres', 'postmaster.pid'));
      await primary.exited;
    },
    async promote() {
      // Polled from here, because a waiting statement would hold a snapshot and might be cancelled by replay.
      await query(standby.url, 'select pg_promote(false)');
      while ((await query(standby.url, 'select pg_is_in_recovery() as standby'))[0]?.standby === true) await sleep(50);
    },
    async stop() {
      proxy.stop();
      await standby.stop();
      await primary.stop();
    },
  };
}

/** The settings of a file of deploy/postgres: the drill's servers run with what operators get. */
async function settingsOf(file: string): Promise<Record<string, string>> {
  const text = await readFile(join(import.meta.dirname, '../../deploy/postgres', file), 'utf8');
  const lines = [...text.matchAll(/^(\w+) = (?:'(.*)'|(\S+))$/gm)];
  return Object.fromEntries(lines.map(([, name, quoted, plain]) => [name, quoted ?? plain ?? '']));
}

/** A copy of a stopped server, like one that `pg_basebackup` makes of a running server. */
async function copyServer(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', '-T', from, to]);
  const data = join(to, 'postgres');
  const { uid, gid } = await stat(join(data, 'PG_VERSION'));
  await writeFile(join(data, 'standby.signal'), '');
  await chown(join(data, 'standby.signal'), uid, gid);
}

/** HAProxy with deploy/haproxy/postgres.cfg, which asks for the primary as it would ask Patroni. */
async function startProxy(dir: string, servers: readonly EmbeddedPostgres[]): Promise<{ url: string; stop(): void }> {
  const checks = await Promise.all(servers.map(({ url }) => servePrimaryCheck(url)));
  const port = await freePort();
  const recipe = await readFile(join(import.meta.dirname, '../../deploy/haproxy/postgres.cfg'), 'utf8');
  const lines = servers.map(({ url }, i) => {
    const socket = join(new URL(url).searchParams.get('host') ?? '', '.s.PGSQL.5432');
    return `    server db${i + 1} unix@${socket} addr 127.0.0.1 port ${portOf(checks[i]?.server)}`;
  });
  const config = recipe.replace('127.0.0.1:5432\n    option', `127.0.0.1:${port}\n    option`);
  const file = join(dir, 'haproxy.cfg');
  await writeFile(file, `${config.replace(/^ {4}server .*\n/gm, '')}${lines.join('\n')}\n`);
  const proxy = spawn('haproxy', ['-db', '-f', file], {
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` },
    stdio: 'ignore',
  });
  // HAProxy takes every server for the primary until its first check fails, and then closes the connections to it.
  const checked = Promise.all(checks.map(({ askedTwice }) => askedTwice));
  const ended = once(proxy, 'exit').then(([code]) => Promise.reject(new Error(`HAProxy exited with ${code}`)));
  await Promise.race([checked, ended]);
  const url = new URL(servers[0]?.url ?? '');
  const name = url.pathname;
  const login = url.searchParams.get('user');
  return {
    url: `postgres://${login}@127.0.0.1:${port}${name}`,
    stop() {
      proxy.kill();
      for (const { server } of checks) server.close();
    },
  };
}

/** @returns the check's server, and a promise for the second question: the first answer has then been acted upon */
async function servePrimaryCheck(url: string): Promise<{ server: Server; askedTwice: Promise<void> }> {
  const { promise: askedTwice, resolve } = Promise.withResolvers<void>();
  let questions = 0;
  const server = createServer((_request, response) => {
    questions += 1;
    if (questions === 2) resolve();
    query(url, 'select pg_is_in_recovery() as standby').then(
      ([row]) => response.writeHead(row?.standby === false ? 200 : 503).end(),
      () => response.writeHead(503).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, askedTwice };
}

function portOf(server: Server | undefined): number {
  const address = server?.address();
  if (typeof address !== 'object' || address === null) throw new Error("a server's health check does not listen");
  return address.port;
}

async function waitForStandby(url: string, replication: Replication): Promise<void> {
  const wanted = replication === 'synchronous' ? 'sync' : 'async';
  for (const giveUp = Date.now() + CONNECT_MS; Date.now() < giveUp; await sleep(50)) {
    const [row] = await query(url, `select sync_state from pg_stat_replication where state = 'streaming'`);
    if (row?.sync_state === wanted) return;
  }
  throw new Error(`the standby is not ${replication} after ${CONNECT_MS} ms`);
}

async function holdReceiver(url: string): Promise<() => void> {
  const [row] = await query(url, 'select pid from pg_stat_wal_receiver');
  const pid = Number(row?.pid);
  process.kill(pid, 'SIGSTOP');
  return () => void process.kill(pid, 'SIGCONT');
}

/** Stop the postmaster first, which would otherwise see its children exit and log a message. */
async function killTree(lockFile: string): Promise<void> {
  const postmaster = Number((await readFile(lockFile, 'utf8')).split('\n')[0]);
  process.kill(postmaster, 'SIGSTOP');
  for (const pid of [...(await childrenOf(postmaster)), postmaster]) process.kill(pid, 'SIGKILL');
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 1);
  const found: number[] = [];
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name is in parentheses and may contain anything; the state and the parent follow it.
    if (Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) === parent) found.push(pid);
  }
  return found;
}

export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
