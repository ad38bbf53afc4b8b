/** The program as an operator starts it, with what it answers and when, from the start of its process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { progressOf, readLines } from '../../test/operations/support/progress.ts';
import { freePort } from '../../test/support/free-port.ts';
import { processorMsOf } from './children.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
export const FEED = '/ori/v1/feed?limit=100';
const LIVE = '/health/live';
const READY = '/health/ready';
/** What readiness says of a proof log between listening and its first checkpoint. */
const NOT_STARTED = 'not started yet';
/** Milliseconds until an address is asked again that does not answer. */
const AGAIN_MS = 10;

interface Answered {
  readonly status: number;
  readonly ms: number;
}

export interface StartedProgram {
  /** Milliseconds from the start until each address answered, and what. */
  readonly firstAnswers: readonly (Answered & { readonly path: string })[];
  /** Milliseconds of a processor so far. */
  processorMs(): number;
  ask(path: string): Promise<Answered>;
  /** Records that readiness says are read; `undefined` when that is done. @throws when it is not ready, or warns of anything else */
  progress(name: string): Promise<number | undefined>;
  memoryBytes(): number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Starts `serve` with only the feed. @param page is asked beside the feed */
export async function startServe(env: Readonly<Record<string, string>>, page: string): Promise<StartedProgram> {
  const [port, managementPort] = [await freePort(), await freePort()];
  const ports = { PORT: String(port), MANAGEMENT_PORT: String(managementPort) };
  const since = performance.now();
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'test', AREAS: 'raadsfeed', RAADSFEED_RATE_LIMIT: '0', ...ports, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [base, management] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${managementPort}`];
  const ask = async (url: string, from = performance.now()): Promise<Answered> => {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return { status: answer.status, ms: Math.round(performance.now() - from) };
  };
  const firstAnswer = async (
    path: string,
    isIt = (_status: number): boolean => true,
  ): Promise<Answered & { path: string }> => {
    const url = `${path === LIVE || path === READY ? management : base}${path}`;
    while (child.exitCode === null) {
      const found = await ask(url, since).catch(() => undefined);
      if (found !== undefined && isIt(found.status)) return { path, ...found };
      await sleep(AGAIN_MS);
    }
    throw new Error('the program ended');
  };
  const firstAnswers = await Promise.all([
    firstAnswer(LIVE),
    firstAnswer(READY, (status) => status === 200),
    firstAnswer(FEED),
    firstAnswer(page),
  ]);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return {
    firstAnswers,
    processorMs: () => processorMsOf(child.pid),
    ask: (path) => ask(`${base}${path}`),
    async progress(name) {
      const { status, lines } = await readLines(management);
      if (status !== 200) throw new Error(`not ready: ${JSON.stringify(lines)}`);
      const line = lines[name];
      const progress = line?.warning === NOT_STARTED ? { read: 0 } : progressOf(line);
      if (line === undefined) throw new Error(`readiness does not know of the ${name}`);
      if (progress === undefined && line.warning !== undefined)
        throw new Error(`readiness warns of the ${name}: ${line.warning}`);
      return progress?.read;
    },
    memoryBytes: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
  };
}
