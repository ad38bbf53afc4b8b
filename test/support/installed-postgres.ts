/**
 * A Postgres installed on this machine, with programs that the embedded one lacks (`pg_dump`, `pg_restore`, `psql`): a server like an
 * operator's, on a loopback port and with passwords.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.ts';

const PROGRAMS = ['initdb', 'postgres', 'pg_dump', 'pg_restore', 'psql'];
/** The oldest version that the service supports. */
const OLDEST = 15;
/** The user nobody if this process is root, which Postgres refuses. */
const IDS = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const START_MS = 60_000;

export interface InstalledPostgres {
  /** Its administrator's address of a database. */
  readonly url: string;
  /** The address of a login on this server, with its password. */
  address(login: string, password: string): string;
  stop(): Promise<void>;
}

/** Folder with all programs of one version, from Debian's packages, the PGDG's, or `PATH`; undefined if none has them all. */
export function findInstalledPostgres(): string | undefined {
  const packaged = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin'].flatMap((pattern) => globSync(pattern));
  const ofVersion = (path: string): number => Number(/(\d+)\/bin$/.exec(path)?.[1]);
  const supported = packaged.filter((path) => ofVersion(path) >= OLDEST).sort((a, b) => ofVersion(b) - ofVersion(a));
  const folders = [...supported, ...(process.env.PATH ?? '').split(delimiter)];
  return folders.find((folder) => PROGRAMS.every((program) => existsSync(join(folder, program))));
}

/**
 * Creates a server in a folder that does not exist yet; every folder above it is open to all.
 * @param bin result of `findInstalledPostgres`
 */
export async function startInstalledPostgres(bin: string, dir: string): Promise<InstalledPostgres> {
  const { uid, gid } = IDS;
  await mkdir(dir);
  await chmod(dir, 0o755);
  await writeFile(join(dir, 'password'), 'beheer');
  if (uid !== undefined) for (const path of [dir, join(dir, 'password')]) await chown(path, uid, gid);
  const env = { LC_ALL: 'C.UTF-8', PATH: process.env.PATH ?? '' };
  const data = join(dir, 'data');
  const made = ['--auth=scram-sha-256', `--pwfile=${join(dir, 'password')}`, '--encoding=UTF8', '--no-sync'];
  await promisify(execFile)(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', ...made], { ...IDS, cwd: dir, env });
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${dir}`, 'fsync=off'];
  const words = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(bin, 'postgres'), words, { ...IDS, cwd: dir, env, stdio: 'ignore' });
  const ended = once(server, 'exit');
  const address = (login: string, password: string, database = 'koppelvlak'): string =>
    `postgres://${login}:${password}@127.0.0.1:${port}/${database}`;
  const url = address('postgres', 'beheer', 'postgres');
  for (const latest = performance.now() + START_MS; !(await answers(url)); await sleep(50)) {
    if (server.exitCode !== null || performance.now() > latest) throw new Error(`${bin}/postgres did not start`);
  }
  return {
    url,
    address,
    async stop() {
      server.kill('SIGINT');
      await ended;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // Not listening yet, or still starting.
    if (code !== 'ECONNREFUSED' && code !== '57P03') throw error;
    return false;
  } finally {
    await client.end();
  }
}
