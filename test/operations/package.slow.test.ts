/**
 * The package unpacked in an empty directory, with a separate Postgres and the dependencies of its `npm-shrinkwrap.json`.
 * package.release.test.ts tests the installation by npm.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { startCollector } from '../support/collector.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { operatorEnvironment as environment, pack } from './support/packed.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT = 600_000;
const run = promisify(execFile);

let work: string;
let application: string;
let database: TestDatabase;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'koppelvlak-package-'));
  const { file } = await pack(join(work, 'packed'), ROOT);
  application = join(work, 'application');
  const unpacked = join(application, 'node_modules/koppelvlak');
  await mkdir(unpacked, { recursive: true });
  await run('tar', ['--extract', '--file', file, '--directory', unpacked, '--strip-components=1']);
  await linkDependencies(unpacked);
  await writeFile(join(application, 'package.json'), '{"private":true}');
  database = await createDatabase({ empty: true });
}, LIMIT);
afterAll(async () => {
  await database?.drop();
  await rm(work, { recursive: true, force: true });
});

/** Without development packages: an import of one of those by the program fails. */
async function linkDependencies(unpacked: string): Promise<void> {
  const { packages }: { packages: object } = JSON.parse(await readFile(join(unpacked, 'npm-shrinkwrap.json'), 'utf8'));
  for (const path of Object.keys(packages)) {
    if (!/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path)) continue;
    await mkdir(dirname(join(application, path)), { recursive: true });
    await symlink(join(ROOT, path), join(application, path));
  }
}

const program = (): string => join(application, 'node_modules/koppelvlak/dist/main.js');

describe('the package', { timeout: LIMIT }, () => {
  it('prints its version', async () => {
    const { stdout } = await run(program(), ['--version'], { cwd: application, env: environment() });
    const own: unknown = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(stdout).toBe(`${isRecord(own) ? String(own.version) : ''}\n`);
  });

  it('runs the whole demo', async () => {
    const { stdout } = await run(program(), ['demo', '--once'], {
      cwd: application,
      env: environment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(stdout).toMatch(/\d+ checks ok, 0 failed/);
  });

  it('serves from another Postgres, migrated by its own command', async () => {
    const env = environment({
      DATABASE_URL: database.url,
      NODE_ENV: 'test',
      AREAS: 'raadsfeed',
      RAADSFEED_REGISTER: 'true',
      SHUTDOWN_DRAIN_MS: '0',
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
      // Exits with the program.
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
