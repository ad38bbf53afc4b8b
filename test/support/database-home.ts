import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * A home directory for an embedded Postgres of a test's own, with the data that `initdb` made once for the whole run: to make it again takes
 * most of a second of processor. It is open to all, as a checkout usually is; the test removes it.
 */
export async function databaseHome(): Promise<string> {
  const home = await mkdtemp(join(inject('databaseHomes'), 'koppelvlak-home-'));
  await chmod(home, 0o755);
  await addDatabase(home);
  return home;
}

/** Puts that data in a home directory, which is made when it is not there. */
export async function addDatabase(home: string): Promise<void> {
  await mkdir(home, { recursive: true });
  await promisify(execFile)('cp', ['-a', join(inject('databaseHomes'), 'postgres'), home]);
}
