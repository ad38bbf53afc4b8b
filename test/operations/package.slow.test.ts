/** The package as an organisation installs it: packed, in an empty directory, beside a Postgres of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { startCollector } from '../support/collector.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT = 600_000;
const run = promisify(execFile);

let work: string;
let application: string;
let packed: { file: string; digest: string }[];
let database: TestDatabase;

async function pack(name: string, root: string): Promise<{ file: string; digest: string }> {
  const directory = join(work, name);
  await mkdir(directory);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd: root });
  const made: unknown = JSON.parse(stdout.slice(stdout.indexOf('[')));
  const [first]: unknown[] = Array.isArray(made) ? made : [];
  if (!isRecord(first)) throw new Error(`npm pack made nothing: ${stdout}`);
  return { file: join(directory, String(first.filename)), digest: String(first.integrity) };
}

/** The same sources elsewhere, as another person has them: other times, and readable by the owner only. */
async function copySources(): Promise<string> {
  const copy = join(work, 'copy');
  // A file that was removed is listed as long as git is not told.
  const script = `umask 077 && mkdir "$1" && git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from - --ignore-failed-read 2>/dev/null | tar --extract --directory "$1" --touch --no-same-permissions --no-same-owner`;
  await run('sh', ['-c', script, 'sh', copy], { cwd: ROOT });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'koppelvlak-package-'));
  packed = [await pack('first', ROOT), await pack('second', await copySources())];
  application = join(work, 'application');
  await mkdir(application);
  await writeFile(join(application, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', packed[0]?.file ?? ''], {
    cwd: application,
  });
  database = await createDatabase({ empty: true });
}, LIMIT);
afterAll(async () => {
  await database.drop();
  await rm(work, { recursive: true, force: true });
});

/** The environment of an operator: no variable of the tests themselves. */
function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const free = { PORT: '0', MANAGEMENT_PORT: '0', DEMO_AUTH_PORT: '0', DEMO_PKI_PORT: '0' };
  return { PATH: process.env.PATH ?? '', KOPPELVLAK_HOME: join(inject('databaseHomes'), 'package'), ...free, ...more };
}

const program = (): string => join(application, 'node_modules/.bin/koppelvlak');

describe('the installed package', { timeout: LIMIT }, () => {
  it('is the same file, packed elsewhere at another time under another umask', () => {
    expect(packed[1]?.digest).toBe(packed[0]?.digest);
  });

  it('says its version', async () => {
    const { stdout } = await run(program(), ['--version'], { cwd: application, env: environment() });
    const own: unknown = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(stdout).toBe(`${isRecord(own) ? String(own.version) : ''}\n`);
  });

  it('has the dependencies that the lock file names', async () => {
    const read = async (file: string): Promise<Record<string, unknown>> => {
      const lock: unknown = JSON.parse(await readFile(file, 'utf8'));
      return isRecord(lock) && isRecord(lock.packages) ? lock.packages : {};
    };
    const locked = await read(join(ROOT, 'package-lock.json'));
    const installed = await read(join(application, 'node_modules/.package-lock.json'));
    const digest = (value: unknown): unknown => (isRecord(value) ? value.integrity : undefined);
    const digests = new Set(Object.values(locked).map(digest));
    const others = Object.entries(installed).filter(([path]) => path !== 'node_modules/koppelvlak');
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter(([, entry]) => !digests.has(digest(entry))).map(([path]) => path)).toEqual([]);
  });

  it('runs the whole demo', async () => {
    const { stdout } = await run(program(), ['demo', '--once'], {
      cwd: application,
      env: environment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(stdout).toMatch(/\d+ checks ok, 0 failed/);
  });

  it('serves from a Postgres elsewhere, migrated by its own command', async () => {
    const env = environment({
      DATABASE_URL: database.url,
      NODE_ENV: 'test',
      AREAS: 'raadsfeed',
      RAADSFEED_REGISTER: 'true',
      SHUTDOWN_DRAIN_MS: '0',
      // A busy machine must not cause 503 here.
      OVERLOAD_EVENT_LOOP_DELAY_MS: '0',
      PROOF_KEY: Buffer.alloc(32, 9).toString('base64'),
    });
    await run(program(), ['migrate'], { cwd: application, env });
    const collector = await startCollector();
    const child = spawn(program(), ['serve'], {
      cwd: application,
      env: { ...env, DATABASE_MIGRATE: 'false', TRACING_ENDPOINT: collector.url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let output = '';
      // Ends too when the program does.
      for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
        output += String(chunk);
        if (output.includes('"msg":"listening"')) break;
      }
      const line = output.split('\n').find((one) => one.includes('"msg":"listening"'));
      const { url }: { url: string } = JSON.parse(line ?? '{}');
      const reply = await fetch(`${url}/ori/v1/feed`);
      expect(reply.status).toBe(200);
      expect((await fetch(`${url}/ori/v1/docs`)).status).toBe(200);
      expect((await fetch(`${url}/ori/v1/register`)).status).toBe(200);
      for (const part of ['', '/controleer.js', '/controleer.css'])
        expect((await fetch(`${url}/proof/v1/controleer${part}`)).status, part).toBe(200);
    } finally {
      child.kill('SIGTERM');
    }
    const [status]: unknown[] = await once(child, 'exit');
    expect(status).toBe(0);
    await collector.close();
    const request = collector.spans.find(({ name }) => name === 'GET /ori/v1/register');
    const statements = collector.spans.filter(({ traceId }) => traceId === request?.traceId);
    expect(statements.map(({ name }) => name).join('\n')).toContain('pg.query:');
  });

  it('can be imported by an application', async () => {
    const script =
      "import('koppelvlak/verwerkingenlog').then((m) => console.log(typeof m.createVerwerkingenlogClient))";
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: application });
    expect(stdout).toBe('function\n');
  });

  it('compiles and runs in a CommonJS application with TypeScript’s `node16`', async () => {
    const source = `
import { createVerwerkingenlogClient } from 'koppelvlak/verwerkingenlog';
import raadsfeed = require('koppelvlak/raadsfeed');
const publish: typeof raadsfeed.createFeedPublisher = raadsfeed.createFeedPublisher;
console.log(typeof createVerwerkingenlogClient, typeof publish);
`;
    const directory = join(application, 'commonjs');
    await mkdir(directory);
    const compilerOptions = { module: 'node16', target: 'es2023', strict: true, types: [], skipLibCheck: true };
    await writeFile(join(directory, 'package.json'), '{"type":"commonjs"}');
    await writeFile(join(directory, 'index.ts'), source);
    await writeFile(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, typeRoots: [] } }),
    );
    const types = ['declare const console: { log(...texts: string[]): void };'].join('');
    await writeFile(join(directory, 'console.d.ts'), types);
    const compiled = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', directory]).catch((error: unknown) => error);
    expect(Object(compiled).stdout).toBe('');
    const { stdout, stderr } = await run(process.execPath, [join(directory, 'index.js')]);
    expect([stdout, stderr]).toEqual(['function function\n', '']);
  });
});
