import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { runProgram } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import { splitOverrides } from './overrides.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const OVERRIDE = pathToFileURL(join(import.meta.dirname, 'override-constants.ts')).href;

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
  /** The file to run. Default: the service's program. */
  readonly main?: string;
}

/** Starts the program as a process, as a user would, with only the given environment, `NODE_ENV=test` and Node's compile cache. */
export function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { cwd, input = 'ignore', main = MAIN }: ProgramOptions = {},
): Running {
  const override = Object.keys(env).some((name) => name.includes('.')) ? [`--import=${OVERRIDE}`] : [];
  const child = spawn(process.execPath, [...override, main, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: {
      ...{
        PATH: process.env.PATH ?? '',
        NO_COLOR: '1',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
        NODE_ENV: 'test',
      },
      ...env,
    },
    stdio: [input, 'pipe', 'pipe'],
  });
  // Input that it did not read.
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

export interface CallOptions {
  readonly cwd?: string;
  /** All of standard input. */
  readonly input?: string;
  /** Simulates a user at a terminal: standard input and error are one. */
  readonly isTerminal?: boolean;
  /** Default: the service's program. */
  readonly run?: typeof runProgram;
}

/**
 * Runs the program in this process, to completion, on its own terminal: output and exit status are those of `startProgram`, without the
 * time to start a process. For process behaviour (signals, memory, a broken pipe) start one.
 */
export async function callProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { cwd, input = '', isTerminal = false, run = runProgram }: CallOptions = {},
): Promise<Ended> {
  const stdin = new PassThrough();
  stdin.on('error', () => undefined).end(input);
  const [stdout, stderr] = [collect(), collect()];
  for (const stream of [stdin, stderr.stream]) Object.assign(stream, { isTTY: isTerminal });
  const ended = Promise.withResolvers<void>();
  const terminal: Terminal = Object.assign(new EventEmitter(), {
    ...splitOverrides({ NODE_ENV: 'test', ...env }),
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    exitCode: 0,
    exit(code: number): void {
      terminal.exitCode = code;
      ended.resolve();
    },
  });
  const leave = enter(cwd ?? process.cwd());
  try {
    await Promise.race([run(args, terminal), ended.promise]);
  } finally {
    leave();
  }
  return { status: Number(terminal.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
}

function collect(): { readonly stream: PassThrough; text(): string } {
  const stream = new PassThrough();
  let all = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    all += text;
  });
  // Output still in the stream has been written too.
  return { stream, text: () => all + (stream.read() ?? '') };
}

let calls = 0;
let outside = '';

/** A process has one working directory, which concurrent calls share. */
function enter(directory: string): () => void {
  if (calls === 0) outside = process.cwd();
  else if (process.cwd() !== directory) throw new Error('another call uses another directory');
  calls += 1;
  process.chdir(directory);
  return () => {
    calls -= 1;
    if (calls === 0) process.chdir(outside);
  };
}
