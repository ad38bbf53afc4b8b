/** Servers and load run in separate processes, as in production, so that none waits for another's event loop. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

export interface Child extends AsyncDisposable {
  /** CPU time used so far, in milliseconds; NaN without `/proc`. */
  processorMs(): number;
  /** Sends a message and returns the answer. */
  ask(message: unknown): Promise<unknown>;
  stop(): Promise<void>;
  /** Kills it, as a power cut would. */
  kill(): Promise<void>;
}

/** Starts a module that answers each message with one. */
export async function startChild(
  module: URL,
  env: Readonly<Record<string, string>> = {},
  execArgv: readonly string[] = process.execArgv,
): Promise<Child> {
  const child = fork(module, {
    env: { ...process.env, ...env },
    execArgv: [...execArgv],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await answerOf(child);
  const stop = (): Promise<void> => ended(child, () => child.disconnect());
  return {
    processorMs: () => processorMsOf(child.pid),
    ask: async (message) => {
      child.send(Object(message));
      return answerOf(child);
    },
    stop,
    [Symbol.asyncDispose]: stop,
    kill: () => ended(child, () => void child.kill('SIGKILL')),
  };
}

async function ended(child: ChildProcess, end: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  end();
  await exited;
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const exit = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`a benchmark process exited with ${code}`);
  });
  const [answer] = await Promise.race([once(child, 'message', { signal: ended.signal }), exit]);
  ended.abort();
  exit.catch(() => undefined);
  if (typeof answer === 'object' && answer !== null && 'error' in answer) throw new Error(String(answer.error));
  return answer;
}

/** Milliseconds per clock tick, Linux's unit of CPU time for other processes. */
const TICK_MS = 10;

/** @see proc_pid_stat(5): user and system time are fields 14 and 15 */
export function processorMsOf(pid: number | undefined): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return Number.NaN;
  const fields = readFileSync(path, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/**
 * Returns a clock of the CPU time that a process's children have used, in milliseconds; children that exited count with
 * their last value.
 */
export function childrenClock(parent: number): () => number {
  const seen = new Map<string, number>();
  return () => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === parent))
      seen.set(pid, processorMsOf(Number(pid)) || (seen.get(pid) ?? 0));
    return [...seen.values()].reduce((sum, ms) => sum + ms, 0);
  };
}

function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[1]);
  } catch {
    // It has exited since.
    return Number.NaN;
  }
}

/** CPU time that this process has used so far, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The child's side: answers every message with the result of `work` and exits with its parent. */
export async function serveParent(
  work: (message: unknown) => Promise<unknown>,
  close: () => Promise<void>,
): Promise<void> {
  const send = (answer: unknown): void => void process.send?.(answer);
  process.on('message', (message) => {
    work(message).then(
      (answer) => send(answer ?? {}),
      (error: unknown) => send({ error: error instanceof Error ? error.stack : String(error) }),
    );
  });
  process.on('disconnect', () => {
    close().finally(() => process.exit());
  });
  send({ ready: true });
}
