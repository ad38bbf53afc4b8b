/** Two instances of the service, each in its own process, behind nginx with the configuration of deploy/nginx. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const RECIPE = join(import.meta.dirname, '../../deploy/nginx/koppelvlak.conf');
/** Environment variables; the compile cache is shared with the drill. */
const INHERITED = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };
/** Milliseconds within which a program must listen, on a busy machine. */
const START_MS = 120_000;

export interface Instance {
  readonly pid: number;
  readonly managementUrl: string;
  /** Stops it as an operator would; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Kills it. */
  kill(): Promise<number | null>;
}

/** @param execArgv options of Node */
export async function startInstance(
  port: number,
  env: Readonly<Record<string, string>>,
  execArgv: readonly string[] = [],
): Promise<Instance> {
  const child = spawn(process.execPath, [...execArgv, MAIN, 'serve'], {
    env: { ...INHERITED, ...env, PORT: String(port), MANAGEMENT_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => child.exitCode);
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.includes('"msg":"listening"')) return;
    const { managementUrl }: { managementUrl: string } = JSON.parse(line);
    listening.resolve(managementUrl);
  });
  const late = ended.then((code) => Promise.reject(new Error(`the service exited with ${code}`)));
  const managementUrl = await Promise.race([listening.promise, late]);
  late.catch(() => undefined);
  return {
    pid: Number(child.pid),
    managementUrl,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

export interface Proxy {
  readonly port: number;
  readonly errors: () => Promise<string>;
  stop(): Promise<void>;
}

/** Starts nginx in front of two ports. */
export async function startProxy(dir: string, [a, b]: readonly [number, number]): Promise<Proxy> {
  const port = await freePort();
  const recipe = (await readFile(RECIPE, 'utf8'))
    .replace('127.0.0.1:8080', `127.0.0.1:${a}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${b}`)
    .replace('127.0.0.1:8000', `127.0.0.1:${port}`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`);
  await writeFile(join(dir, 'koppelvlak.conf'), recipe);
  await writeFile(
    join(dir, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
     events {} http { access_log off; ${paths.join(' ')} include ${dir}/koppelvlak.conf; }`,
  );
  const args = ['-p', dir, '-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')];
  // Debian's location of nginx is not on everybody's path.
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
  const child = spawn('nginx', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const complaints = text(child.stderr);
  for (const giveUp = Date.now() + START_MS; ; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`nginx does not start: ${await complaints}`);
    const response = await fetch(`http://127.0.0.1:${port}/ori/v1/`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) break;
    if (Date.now() > giveUp) throw new Error('nothing answers behind nginx');
  }
  return {
    port,
    errors: () => readFile(join(dir, 'error.log'), 'utf8'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
