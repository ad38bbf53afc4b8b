/** Runs external programs, such as git, npm, tar and spectral, and work in temporary folders. */
import { spawnSync } from 'node:child_process';
import { type DisposableTempDir, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** Installing all packages over a slow line takes minutes; anything longer has hung. */
const LIMIT_MS = 20 * 60_000;
const MAX_OUTPUT = 256 * 1024 * 1024;

type Environment = Readonly<Record<string, string>>;

/**
 * Runs a program to completion, whatever its status.
 * @throws {Error} when it cannot be started or hangs
 */
export function runToEnd(command: string, args: readonly string[], cwd: string, env: Environment = {}) {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: MAX_OUTPUT, timeout: LIMIT_MS };
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (error !== undefined) throw new Error(`${command} ${args[0] ?? ''}: ${error.message}`);
  return { status, stdout, stderr };
}

/**
 * Runs a program and returns its output.
 * @throws {Error} with its error output when it fails
 */
export function run(command: string, args: readonly string[], cwd: string, env: Environment = {}): string {
  const { status, stdout, stderr } = runToEnd(command, args, cwd, env);
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${status}: ${stderr.trim()}`);
  return stdout;
}

/** A folder that is gone at the end of its scope (`using`). */
export function temporaryFolder(): DisposableTempDir {
  return mkdtempDisposableSync(join(tmpdir(), 'koppelvlak-script-'));
}
