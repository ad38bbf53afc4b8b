import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * A home directory for a test's own embedded Postgres, with data that `initdb` made once for the whole run: making it again takes most of a
 * second of CPU. It is open to all, as a checkout usually is; the test removes it.
 */
export async function databaseHome(): Promise<string> {
  const home = await mkdtemp(join(inject('databaseHomes'), 'koppelvlak-home-'));
  await chmod(home, 0o755);
  await addDatabase(home);
  return home;
}

/** Copies that data into a home directory, creating it if necessary. */
export async function addDatabase(home: string): Promise<void> {
  await mkdir(home, { recursive: true });
  await promisify(execFile)('cp', ['-a', join(inject('databaseHomes'), 'postgres'), home]);
}
