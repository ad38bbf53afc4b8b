/** Checks whether a file named in a setting is readable, and if not, what an operator must change. */
import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';

/** @returns undefined for a readable file; else the reason, to follow "names": with its path, and its owner and mode if it exists */
export function whyUnreadable(path: string): string | undefined {
  const absolute = resolve(path);
  try {
    const found = statSync(absolute);
    if (!found.isFile()) return `no readable file: ${absolute} is not a file`;
    try {
      accessSync(absolute, constants.R_OK);
      return undefined;
    } catch {
      const rights = (found.mode & 0o7777).toString(8).padStart(4, '0');
      return `no readable file: ${absolute} belongs to user ${found.uid} and group ${found.gid} with mode ${rights}, and this process is user ${process.getuid?.()}`;
    }
  } catch (error) {
    const isHidden = error instanceof Error && 'code' in error && error.code === 'EACCES';
    const reason = isHidden ? `its directory is closed to user ${process.getuid?.()}` : 'it does not exist';
    return `no readable file: ${absolute}: ${reason}`;
  }
}
