/** Load of many connections asking one address: by wrk when it is installed, else by a process of our own. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Child, startChild } from './children.ts';

const run = promisify(execFile);

export interface Loader {
  readonly name: string;
  /** Answers per second. @throws {Error} when answers come that are not expected */
  rate(url: string, load: Load): Promise<number>;
  stop(): Promise<void>;
}

export interface Load {
  readonly connections: number;
  readonly seconds: number;
  /** The status that every answer must have. */
  readonly status: number;
  readonly headers?: Record<string, string>;
}

export async function createLoader(): Promise<Loader> {
  const hasWrk = await run('which', ['wrk']).then(
    () => true,
    () => false,
  );
  return hasWrk ? wrk() : own(await startChild(new URL('load-process.ts', import.meta.url)));
}

function wrk(): Loader {
  return {
    name: 'wrk',
    async rate(url, { connections, seconds, headers = {} }) {
      const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const words = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', ...named, url];
      const { stdout } = await run('wrk', words);
      if (/Non-2xx or 3xx|Socket errors/.test(stdout)) throw new Error(`${url}\n${stdout}`);
      return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
    },
    stop: async () => {},
  };
}

function own(child: Child): Loader {
  return {
    name: 'own load (wrk is not installed)',
    async rate(url, { connections, seconds, status, headers = {} }) {
      const load = { url, method: 'GET', connections, warmUpMs: 200, measureMs: seconds * 1000, headers };
      const answer = await child.ask({ ...load, idempotencyKeys: false, bodies: [], expectStatus: status });
      return Number(Object(answer).perSecond);
    },
    stop: child.stop,
  };
}
