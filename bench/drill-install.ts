/**
 * Installs the software in every way that docs/installing.md describes and then follows its instructions on Postgres 18
 * and on this machine's version: migrate, then serve the council feed with deploy/env/raadsfeed.env.
 *
 * Run `npm run drill -- install`; npm contacts the registry. Each installation starts in an empty folder. As root it
 * also uses a Debian made by `debootstrap` and the image built by `buildah`, run read-only as its user. Without those
 * tools it installs the files that the image would copy.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv, promisify } from 'node:util';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { freePort } from '../test/support/free-port.ts';
import { findInstalledPostgres, startInstalledPostgres } from '../test/support/installed-postgres.ts';
import { withDatabase } from '../test/support/with-database.ts';
import { buildImage, canMake, imageCommand, makeBareRoot, ROOT_PATH } from './support/bare-root.ts';
import { query } from './support/standby.ts';

const ROOT = join(import.meta.dirname, '..');
const LIMIT_MS = 120_000;
const OMIT = ['--omit=dev', '--omit=optional'];
const work = mkdtempSync(join(tmpdir(), 'kv-install-'));
// Postgres and the service in its chroot run as other users and must be able to enter it.
chmodSync(work, 0o755);
/** As on a fresh machine: only the Node that runs this, and nothing from this checkout. */
const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // The machine decides where npm finds its registry.
    env: { ...process.env, PATH, ...env },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

/** A copy of the files tracked by git, without installed or built ones. */
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

/** Installs the files that the image would contain. */
function wrap(root: string): string {
  mkdirSync(join(root, 'bin'));
  const path = join(root, 'bin/koppelvlak');
  writeFileSync(path, `#!/bin/sh\nexec node ${join(root, 'src/main.ts')} "$@"\n`, { mode: 0o755 });
  return path;
}

/** The commands of docs/installing.md for an installation, with the package file as their argument. */
function commandsOf(way: 'Package' | 'Checkout'): string {
  const page = readFileSync(join(ROOT, 'docs/installing.md'), 'utf8');
  const [, block] = /```sh\n([\s\S]*?)```/.exec(page.slice(page.indexOf(`- **${way}**`))) ?? [];
  if (block === undefined) throw new Error(`docs/installing.md has no commands for: ${way}`);
  return block.replace(/\S*\/koppelvlak-\S+\.tgz/, '"$1"');
}

/** How to run an installed program: the command before its arguments, and the folder of its files. */
interface Installed {
  readonly command: readonly string[];
  readonly files: string;
}

/** The tarball of `npm pack`, in the work folder. */
function pack(): string {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', work], ROOT).replace(/^[^[]*/, ''));
  return packed.filename;
}

/** The lines of docs/installing.md. */
const PACKAGE = `${commandsOf('Package')}\ntest -f deploy/sql/roles.sql`;

const bareRoot = join(work, 'root');

const WAYS: Readonly<Record<string, () => Installed>> = {
  package() {
    const files = join(work, 'package');
    mkdirSync(files);
    run('sh', ['-ec', PACKAGE, 'sh', join(work, pack())], files);
    return { command: [join(files, 'bin/koppelvlak')], files };
  },
  checkout() {
    const files = checkout('checkout');
    run('npm', ['ci', ...OMIT], files);
    run('sh', ['-ec', commandsOf('Checkout')], files);
    return { command: [join(files, 'bin/koppelvlak')], files };
  },
  ...(canMake('debootstrap', 'buildah') ? { image } : { 'the files of the image': copied }),
  ...(canMake('debootstrap') ? { 'package in a bare Debian': inBareRoot } : {}),
};

function image(): Installed {
  makeBareRoot(bareRoot, run);
  const built = buildImage(checkout('context'), bareRoot, join(work, 'storage'), run);
  return { command: imageCommand(built), files: built.files };
}

function copied(): Installed {
  const from = checkout('context');
  const files = join(work, 'image');
  mkdirSync(files);
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(from, name), join(files, name));
  run('npm', ['ci', ...OMIT, '--ignore-scripts'], files);
  const lines = readFileSync(join(from, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from|package)(\S+) /gm);
  for (const [, name = ''] of lines) cpSync(join(from, name), join(files, name), { recursive: true });
  return { command: [wrap(files)], files };
}

/** Installed by root, run as nobody. */
function inBareRoot(): Installed {
  if (!existsSync(bareRoot)) makeBareRoot(bareRoot, run);
  const files = join(bareRoot, 'opt/koppelvlak');
  mkdirSync(files);
  const packed = pack();
  cpSync(join(work, packed), join(bareRoot, 'tmp', packed));
  const script = `cd /opt/koppelvlak\n${PACKAGE}`;
  run('chroot', [bareRoot, 'sh', '-ec', script, 'sh', `/tmp/${packed}`], work, { PATH: ROOT_PATH });
  const inside = ['env', `PATH=${ROOT_PATH}`, '/opt/koppelvlak/bin/koppelvlak'];
  return { command: ['chroot', '--userspec=nobody:nogroup', bareRoot, ...inside], files };
}

/** Migrates an empty database and serves until it is ready. */
async function use({ command: [program = '', ...words] }: Installed, databaseUrl: string): Promise<void> {
  const settings = { NODE_ENV: 'production', DATABASE_URL: databaseUrl };
  // Not with `run`, which blocks this process while `onPort` has to answer.
  await promisify(execFile)(program, [...words, 'migrate'], { cwd: work, env: { PATH, ...settings } });
  const port = await freePort();
  const file = parseEnv(readFileSync(join(ROOT, 'deploy/env/raadsfeed.env'), 'utf8'));
  const env = { PATH, ...file, ...settings, DATABASE_MIGRATE: 'false', PORT: '0', MANAGEMENT_PORT: String(port) };
  const service = spawn(program, [...words, 'serve'], { cwd: work, env, stdio: 'ignore' });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  try {
    for (const latest = performance.now() + LIMIT_MS; ; await sleep(200)) {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
      if (answer?.ok) break;
      if (service.exitCode !== null) throw new Error(`serve exited with ${service.exitCode}`);
      if (performance.now() > latest) throw new Error('not ready in time');
    }
  } finally {
    service.kill('SIGINT');
    await ended;
  }
}

/** Forwards a loopback port to a socket that a program in its own root cannot see. */
async function onPort(url: string): Promise<string> {
  const path = `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`;
  const relay = createServer((client) => {
    const server = connect(path);
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
    client.pipe(server).pipe(client);
  });
  const port = await freePort();
  relay.listen(port, '127.0.0.1').unref();
  return `postgres://koppelvlak@127.0.0.1:${port}/koppelvlak`;
}

const minutes = (since: number): string => ((performance.now() - since) / 60_000).toFixed(1);
const embedded = await startEmbedded({ dir: join(work, 'postgres'), log: createLogger('error') });
const bin = findInstalledPostgres();
const installed = bin === undefined ? undefined : await startInstalledPostgres(bin, join(work, 'installed-postgres'));
try {
  const servers = [await onPort(embedded.url), ...(installed === undefined ? [] : [installed.url])];
  for (const [i, [way, install]] of Object.entries(WAYS).entries()) {
    console.log(way);
    const began = performance.now();
    const program = install();
    const [size] = run('du', ['-sm', program.files], work).split('\t');
    console.log(`  installed in ${minutes(began)} minutes (${size} MB)`);
    const [command = '', ...words] = program.command;
    console.log(`  version ${run(command, [...words, '--version'], work).trim()}`);
    for (const server of servers) {
      const [{ server_version: version } = {}] = await query(server, 'show server_version');
      await query(server, `create database way${i}`);
      const started = performance.now();
      await use(program, withDatabase(server, `way${i}`));
      console.log(`  served from Postgres ${version} after ${minutes(started)} minutes`);
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await installed?.stop();
  await embedded.stop();
  // An interrupted `debootstrap` leaves this machine's own file systems mounted.
  run('rm', ['--recursive', '--force', '--one-file-system', work], '/');
}
