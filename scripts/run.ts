/** Programs that the evidence is made and checked with: git, npm, tar, spectral. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';

/** An installation of all packages on a slow line takes minutes; what takes longer than this hangs. */
const LIMIT_MS = 20 * 60_000;
const MAX_OUTPUT = 256 * 1024 * 1024;

type Environment = Readonly<Record<string, string>>;

/** Runs a program to its end, whatever its status. @throws {Error} when it cannot be started or hangs */
export function runToEnd(command: string, args: readonly string[], cwd: string, env: Environment = {}) {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: MAX_OUTPUT, timeout: LIMIT_MS };
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, encoding: 'utf8' });
  if (error !== undefined) throw new Error(`${command} ${args[0] ?? ''}: ${error.message}`);
  return { status, stdout, stderr };
}

/** Runs a program and returns what it printed. @throws {Error} with its own words when it fails */
export function run(command: string, args: readonly string[], cwd: string, env: Environment = {}): string {
  const { status, stdout, stderr } = runToEnd(command, args, cwd, env);
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${status}: ${stderr.trim()}`);
  return stdout;
}
