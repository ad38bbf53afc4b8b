/** The package as `npm pack` makes it, for tests that run its contents. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { isRecord } from '../../../src/lib/json/json-value.ts';

const run = promisify(execFile);

export interface Packed {
  /** Path of the archive. */
  readonly file: string;
  /** Its digest, in the format of npm's lock files. */
  readonly digest: string;
}

/** Packs the sources in `root`, into a new `directory`. */
export async function pack(directory: string, root: string): Promise<Packed> {
  await mkdir(directory);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd: root });
  const made: unknown = JSON.parse(stdout.slice(stdout.indexOf('[')));
  const [first]: unknown[] = Array.isArray(made) ? made : [];
  if (!isRecord(first)) throw new Error(`npm pack produced nothing: ${stdout}`);
  return { file: join(directory, String(first.filename)), digest: String(first.integrity) };
}

/** The environment of an operator, without the tests' own variables. */
export function operatorEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    // Shared compile cache, so that start-up code is compiled once.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    KOPPELVLAK_HOME: join(inject('databaseHomes'), 'package'),
    PORT: '0',
    MANAGEMENT_PORT: '0',
    ...more,
  };
}
