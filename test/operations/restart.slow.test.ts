/** Two instances behind nginx are restarted one after the other under load: no request fails. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { type Running, startProgram } from '../support/program.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { actie, KEY, newPerson } from '../verwerkingenlog/support.ts';

const NGINX = '/usr/sbin/nginx';
const CONFIG = join(import.meta.dirname, '../../deploy/nginx/koppelvlak.conf');
const DRAIN_MS = 1500;
const CLIENTS = 8;

let dir: string;
let database: TestDatabase;
let tokens: TestTokens;
const running = new Set<Running>();
let stopNginx: (() => Promise<void>) | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-restart-'));
  database = await createDatabase();
  tokens = await startTokens();
});
afterEach(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
  running.clear();
  await stopNginx?.();
  stopNginx = undefined;
  await tokens.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

interface Instance {
  readonly program: Running;
  readonly managementUrl: string;
}

async function startInstance(port: number): Promise<Instance> {
  const program = startProgram(['serve'], {
    DATABASE_URL: database.url,
    AREAS: 'verwerkingenlog,raadsfeed',
    PORT: String(port),
    MANAGEMENT_PORT: '0',
    VERWERKINGENLOG_KEY: KEY,
    RAADSFEED_RATE_LIMIT: '0',
    OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
    SHUTDOWN_DRAIN_MS: String(DRAIN_MS),
    TRUST_PROXY: '1',
    ...tokens.env,
  });
  running.add(program);
  const listening = (): string | undefined =>
    program
      .output()
      .stdout.split('\n')
      .find((line) => line.includes('"msg":"listening"'));
  await expect.poll(listening, { timeout: 60_000 }).toBeDefined();
  const { managementUrl }: { managementUrl: string } = JSON.parse(listening() ?? '{}');
  return { program, managementUrl };
}

async function stopInstance({ program, managementUrl }: Instance): Promise<void> {
  program.child.kill('SIGTERM');
  const readiness = async (): Promise<unknown> => {
    const response = await fetch(`${managementUrl}/health/ready`);
    const { status }: { status: string } = JSON.parse(await response.text());
    return [response.status, status];
  };
  await expect.poll(readiness).toEqual([503, 'stopping']);
  expect(await program.ended).toMatchObject({ status: 0, stderr: '' });
  running.delete(program);
}

/** The recipe of the documentation, with ports that are free here. */
async function startNginx(port: number, instances: readonly [number, number]): Promise<void> {
  const recipe = (await readFile(CONFIG, 'utf8'))
    .replace('127.0.0.1:8080', `127.0.0.1:${instances[0]}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${instances[1]}`)
    .replace('127.0.0.1:8000', `127.0.0.1:${port}`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`);
  await writeFile(join(dir, 'koppelvlak.conf'), recipe);
  await writeFile(
    join(dir, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
     events {} http { access_log off; ${paths.join(' ')} include ${dir}/koppelvlak.conf; }`,
  );
  const child = spawn(NGINX, ['-p', dir, '-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const complaints = text(child.stderr);
  stopNginx = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const answers = async (): Promise<number> => {
    if (child.exitCode !== null) throw new Error(`nginx does not start: ${await complaints}`);
    return (await fetch(`http://127.0.0.1:${port}/ori/v1/`)).status;
  };
  await expect.poll(() => answers().catch((error: unknown) => String(error))).toBe(200);
}

interface Load {
  readonly failures: string[];
  readonly count: () => number;
  readonly stop: () => Promise<void>;
}

/** Clients that keep their connections and ask without a pause, reading and writing by turns. */
function startLoad(port: number, authorization: string): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const failures: string[] = [];
  let count = 0;
  let stopped = false;
  const ask = (n: number): Promise<void> =>
    new Promise((resolve) => {
      const isWrite = n % 2 === 0;
      const outgoing = request(
        {
          agent,
          port,
          host: '127.0.0.1',
          method: isWrite ? 'POST' : 'GET',
          path: isWrite ? '/verwerkingenlog/v1/verwerkingsacties' : `/ori/v1/feed?limit=${(n % 50) + 1}`,
          headers: isWrite ? { authorization, 'content-type': 'application/json' } : {},
        },
        (response) => {
          const wanted = isWrite ? 201 : 200;
          if (response.statusCode !== wanted) failures.push(`${isWrite ? 'POST' : 'GET'} ${response.statusCode}`);
          response.resume().on('close', resolve);
        },
      );
      outgoing.on('error', (error) => {
        failures.push(error.message);
        resolve();
      });
      outgoing.end(isWrite ? JSON.stringify(actie(newPerson())) : undefined);
    });
  const client = async (first: number): Promise<void> => {
    for (let n = first; !stopped; n += 1) {
      await ask(n);
      count += 1;
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, n) => client(n));
  return {
    failures,
    count: () => count,
    stop: async () => {
      stopped = true;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

/** It is no package of npm, so these run only on a machine that has it. */
describe.runIf(existsSync(NGINX))('behind nginx as documented', () => {
  it('a restart of each instance loses no request', async () => {
    const [port, a, b] = [await freePort(), await freePort(), await freePort()];
    const instances = [await startInstance(a), await startInstance(b)];
    await startNginx(port, [a, b]);
    const { authorization } = await tokens.bearer(['create:normal']);
    const load = startLoad(port, authorization);
    try {
      await expect.poll(load.count).toBeGreaterThan(100);
      for (let round = 0; round < 2; round += 1) {
        for (const [i, instance] of instances.entries()) {
          await stopInstance(instance);
          instances[i] = await startInstance(i === 0 ? a : b);
          // Until nginx has found it again (`fail_timeout`).
          await sleep(2000);
        }
      }
    } finally {
      await load.stop();
    }
    expect(load.failures, await readFile(join(dir, 'error.log'), 'utf8')).toEqual([]);
    expect(load.count()).toBeGreaterThan(1000);
  }, 240_000);
});
