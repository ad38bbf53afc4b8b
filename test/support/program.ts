import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** Everything written so far. */
  readonly output: () => { stdout: string; stderr: string };
  readonly ended: Promise<Ended>;
}

export interface ProgramOptions {
  readonly cwd?: string;
  /** `pipe`: standard input is left open for the test. */
  readonly input?: 'ignore' | 'pipe';
}

/** Starts the program as a user would, with nothing in its environment but what is given. */
export function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { cwd, input = 'ignore' }: ProgramOptions = {},
): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', ...env },
    stdio: [input, 'pipe', 'pipe'],
  });
  // What it did not want to read.
  child.stdin?.on('error', () => undefined);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(() => ({ status: child.exitCode, stdout, stderr }));
  return { child, output: () => ({ stdout, stderr }), ended };
}
