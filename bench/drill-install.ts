/**
 * Installs the software in an empty folder in each of the ways of docs/installing.md, and takes each through what follows there: migrate,
 * then serve the council feed with deploy/env/raadsfeed.env. `npm run drill -- install`; npm asks the registry. The image itself needs a
 * builder and a registry of images: what it copies is installed and run here in its place.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { freePort } from '../test/support/free-port.ts';
import { withDatabase } from '../test/support/with-database.ts';

const ROOT = join(import.meta.dirname, '..');
const LIMIT_MS = 120_000;
const OMIT = ['--omit=dev', '--omit=optional'];
const work = mkdtempSync(join(tmpdir(), 'kv-install-'));
/** As on a machine of its own: the Node that runs this, and nothing of this checkout. */
const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    ...{ cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    // Where npm finds its registry is the machine's affair.
    env: { ...process.env, PATH, ...env },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

/** A copy of the files that git knows, without what was installed or built here. */
function checkout(name: string): string {
  const to = join(work, name);
  mkdirSync(to);
  run(
    'sh',
    ['-c', 'git ls-files -z | tar --create --null --files-from - | tar --extract --directory "$1"', 'sh', to],
    ROOT,
  );
  return to;
}

/** The wrapper of docs/installing.md. */
function wrap(root: string): string {
  mkdirSync(join(root, 'bin'));
  const path = join(root, 'bin/koppelvlak');
  writeFileSync(path, `#!/bin/sh\nexec node ${join(root, 'src/main.ts')} "$@"\n`, { mode: 0o755 });
  return path;
}

const WAYS: Readonly<Record<string, () => string>> = {
  package() {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', work], ROOT).replace(/^[^[]*/, ''));
    const root = join(work, 'package');
    mkdirSync(join(root, 'bin'), { recursive: true });
    writeFileSync(join(root, 'package.json'), '{"private":true}');
    run('npm', ['install', '--omit=optional', join(work, packed.filename)], root);
    symlinkSync('../node_modules/.bin/koppelvlak', join(root, 'bin/koppelvlak'));
    return join(root, 'bin/koppelvlak');
  },
  checkout() {
    const root = checkout('checkout');
    run('npm', ['ci', ...OMIT], root);
    return wrap(root);
  },
  'what the image copies'() {
    const from = checkout('context');
    const root = join(work, 'image');
    mkdirSync(root);
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(from, name), join(root, name));
    run('npm', ['ci', ...OMIT, '--ignore-scripts'], root);
    const copied = readFileSync(join(from, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from|package)(\S+) /gm);
    for (const [, name = ''] of copied) cpSync(join(from, name), join(root, name), { recursive: true });
    return wrap(root);
  },
};

/** Migrates an empty database and serves until it is ready. */
async function use(program: string, databaseUrl: string): Promise<void> {
  const settings = { NODE_ENV: 'production', DATABASE_URL: databaseUrl };
  console.log(`  ${run(program, ['migrate'], work, settings).trim().slice(0, 60)} …`);
  const port = await freePort();
  const file = parseEnv(readFileSync(join(ROOT, 'deploy/env/raadsfeed.env'), 'utf8'));
  const env = { PATH, ...file, ...settings, DATABASE_MIGRATE: 'false', PORT: '0', MANAGEMENT_PORT: String(port) };
  const service = spawn(program, ['serve'], { cwd: work, env, stdio: 'ignore' });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  try {
    for (const latest = performance.now() + LIMIT_MS; ; await sleep(200)) {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
      if (answer?.ok) break;
      if (service.exitCode !== null) throw new Error(`serve ended with ${service.exitCode}`);
      if (performance.now() > latest) throw new Error('not ready in time');
    }
  } finally {
    service.kill('SIGINT');
    await ended;
  }
}

const postgres = await startEmbedded({ dir: join(work, 'postgres'), log: createLogger('error') });
try {
  for (const [i, [way, install]] of Object.entries(WAYS).entries()) {
    console.log(way);
    const began = performance.now();
    const program = install();
    const installed = performance.now();
    console.log(`  version ${run(program, ['--version'], work).trim()}`);
    run('psql', ['--quiet', '--command', `create database way${i}`, postgres.url], work);
    await use(program, withDatabase(postgres.url, `way${i}`));
    const minutes = (ms: number): string => (ms / 60_000).toFixed(1);
    const [size] = run('du', ['-sm', dirname(dirname(program))], work).split('\t');
    console.log(
      `  installed in ${minutes(installed - began)} minutes (${size} MB), served after ${minutes(performance.now() - installed)} more`,
    );
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await postgres.stop();
  rmSync(work, { recursive: true, force: true });
}
