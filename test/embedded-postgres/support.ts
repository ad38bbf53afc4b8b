import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { findPostgres } from '../../src/embedded-postgres/start.ts';
import { addDatabase } from '../support/database-home.ts';

/** A home directory that is deleted after the test. Open to all, as a checkout usually is. */
export async function temporaryHome(): Promise<string> {
  const dir = await mkdtemp(join(inject('databaseHomes'), 'koppelvlak-home-'));
  await chmod(dir, 0o755);
  onTestFinished(() => rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return dir;
}

/** A home directory with an existing database, for tests that are not about creating one. */
export async function initialisedHome(path = ''): Promise<string> {
  const dir = join(await temporaryHome(), path);
  await addDatabase(dir);
  return dir;
}

/** Another process with an embedded Postgres. */
export interface Holder {
  readonly child: ChildProcess;
  readonly url: string | undefined;
  readonly error: string | undefined;
  /** Stops it normally. */
  readonly finish: () => Promise<void>;
}

/** Starts the holder program and waits for its message. */
export async function startHolder(dir: string, ids: { uid?: number; gid?: number } = {}): Promise<Holder> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts'), dir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
    ...ids,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, 'line'), ended.then(() => ['{"error":"ended without a word"}'])]);
  const { url, error } = JSON.parse(String(line));
  const finish = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  return { child, url, error, finish };
}

/** Runs statements on one connection; returns the rows of the last as arrays. */
export async function run(url: string, ...statements: string[]): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[][] = [];
    for (const text of statements) rows = (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
    return rows;
  } finally {
    await client.end();
  }
}

/** Waits until no Postgres runs on a home directory. */
export async function untilGone(dir: string): Promise<void> {
  while ((await findPostgres(join(dir, 'postgres'))) !== undefined)
    await new Promise((resolve) => setTimeout(resolve, 10));
}
