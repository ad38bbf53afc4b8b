import { readFile, rename, rm } from 'node:fs/promises';
import { lockFile, postmasterOf, readLockFile } from './postmaster.ts';
import { processIdentity } from './process-identity.ts';

/**
 * Removes a lock file whose process ended hard and whose number another program has by now, usual in containers, where numbers start
 * anew. Postgres clears away a dead one's itself, but takes any living process for a server and refuses to start.
 */
export async function removeForeignLock(dataDir: string): Promise<void> {
  const found = await readLockFile(dataDir);
  if (found === undefined) return;
  // Judged by this very text: another starter's Postgres may have come since the caller looked.
  const pid = Number(found.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || processIdentity(pid) === undefined || postmasterOf(found, dataDir)) return;
  // Put aside first and looked at again: what another starter made meanwhile goes back.
  const lock = lockFile(dataDir);
  const aside = `${lock}.stale-${process.pid}`;
  if (!(await renameIfPresent(lock, aside))) return;
  if ((await readFile(aside, 'utf8')) === found) await rm(aside);
  else await rename(aside, lock);
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
