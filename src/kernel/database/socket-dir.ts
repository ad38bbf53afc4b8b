import { chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresUser } from './postgres-user.ts';

/** Postgres names its socket after its port. */
export const SOCKET_NAME = '.s.PGSQL.5432';
/** `sun_path` has 108 bytes with the closing zero. */
const SOCKET_PATH_BYTES = 107;

/** A private directory for the socket when its path in the data directory would be too long; undefined when it is not. */
export async function separateSocketDir(dataDir: string, user: PostgresUser): Promise<string | undefined> {
  if (fits(dataDir)) return undefined;
  const base = fits(join(tmpdir(), 'koppelvlak-XXXXXX')) ? tmpdir() : '/tmp';
  const socketDir = await mkdtemp(join(base, 'koppelvlak-'));
  if (user.ids !== undefined) await chown(socketDir, user.ids.uid, user.ids.gid);
  return socketDir;
}

function fits(socketDir: string): boolean {
  return Buffer.byteLength(join(socketDir, SOCKET_NAME)) <= SOCKET_PATH_BYTES;
}
