import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { processIdentity } from './process-identity.ts';

/**
 * Removes a lock file whose process ended hard and whose number another program has by now, usual in containers, where numbers start
 * anew. Postgres clears away a dead one's itself, but takes any living process for a server and refuses to start. Only for who has
 * made sure that no Postgres runs on the directory.
 */
export async function removeForeignLock(dataDir: string): Promise<void> {
  const lock = join(dataDir, 'postmaster.pid');
  const stale = await readIfPresent(lock);
  const pid = Number(stale?.split('\n')[0]);
  if (stale === undefined || !Number.isSafeInteger(pid) || processIdentity(pid) === undefined) return;
  // Put aside first and looked at again: meanwhile another starter may have made its own, which then goes back.
  const aside = `${lock}.stale-${process.pid}`;
  if (!(await renameIfPresent(lock, aside))) return;
  if ((await readFile(aside, 'utf8')) === stale) await rm(aside);
  else await rename(aside, lock);
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function renameIfPresent(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
