import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '../../../src/lib/authority/authority.ts';

const keysOf = (dir: string): string[] =>
  ['root', 'intermediate', 'requester', 'supplier'].map((name) => join(dir, `${name}-key.pem`));

let made: Promise<string> | undefined;

/**
 * A directory for an authority, with keys in it: generating four of them takes longer than most tests. The authority makes the
 * certificates.
 */
export async function authorityDirectory(prefix: string): Promise<string> {
  made ??= makeKeys();
  const from = keysOf(await made);
  const dir = mkdtempSync(join(tmpdir(), prefix));
  for (const [i, path] of keysOf(dir).entries()) copyFileSync(from[i] ?? '', path);
  return dir;
}

async function makeKeys(): Promise<string> {
  const dir = join(mkdtempSync(join(tmpdir(), 'sleutels-')), 'pki');
  mkdirSync(dir);
  const authority = await createAuthority({ dir, port: 0 });
  await authority.close();
  return dir;
}
