import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  /** What has come on standard output by now. */
  readonly out: () => string;
  readonly ended: Promise<Ended>;
}

/** Starts `koppelvlak feed …` beside a service, as its operator does. Standard input is left open. */
export function startFeedCommand(
  databaseUrl: string,
  dir: string,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): RunningCommand {
  const child = spawn(process.execPath, [MAIN, 'feed', ...words], {
    cwd: dir,
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, DATABASE_CONNECT_TIMEOUT_MS: '30000', ...more },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, out, err }));
  });
  return { child, out: () => out, ended };
}

/** Runs a command to its end on the given standard input. */
export function runFeedCommand(databaseUrl: string, dir: string, words: readonly string[], input = ''): Promise<Ended> {
  const { child, ended } = startFeedCommand(databaseUrl, dir, words);
  child.stdin?.end(input);
  return ended;
}
