/** The package as an organisation installs it: unpacked in an empty directory, with the dependencies downloaded by npm. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { operatorEnvironment, type Packed, pack } from './support/packed.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIMIT = 600_000;
const run = promisify(execFile);

let work: string;
let application: string;
let packed: readonly Packed[];

/** The same sources in another checkout: other timestamps, and readable by the owner only. */
async function copySources(): Promise<string> {
  const copy = join(work, 'copy');
  // git lists a removed file until it is told.
  const script = `umask 077 && mkdir "$1" && git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from - --ignore-failed-read 2>/dev/null | tar --extract --directory "$1" --touch --no-same-permissions --no-same-owner`;
  await run('sh', ['-c', script, 'sh', copy], { cwd: ROOT });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'koppelvlak-installed-'));
  packed = [await pack(join(work, 'first'), ROOT), await pack(join(work, 'second'), await copySources())];
  application = join(work, 'application');
  await mkdir(application);
  // As in docs/installing.md, with the optional dependencies for the demo.
  await run('tar', ['--extract', '--file', packed[0]?.file ?? '', '--strip-components', '1'], { cwd: application });
  await run('npm', ['install', '--omit=dev', '--no-save', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: application,
  });
}, LIMIT);
afterAll(() => rm(work, { recursive: true, force: true }));

const program = (): string => join(application, 'dist/main.js');

describe('the installed package', { timeout: LIMIT }, () => {
  it('is the same file, packed elsewhere at another time under another umask', () => {
    expect(packed[1]?.digest).toBe(packed[0]?.digest);
  });

  it('prints its version', async () => {
    const { stdout } = await run(program(), ['--version'], { cwd: application, env: operatorEnvironment() });
    const own: unknown = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(stdout).toBe(`${isRecord(own) ? String(own.version) : ''}\n`);
  });

  it('has the dependencies of the lock file', async () => {
    const read = async (file: string): Promise<Record<string, unknown>> => {
      const lock: unknown = JSON.parse(await readFile(file, 'utf8'));
      return isRecord(lock) && isRecord(lock.packages) ? lock.packages : {};
    };
    const locked = await read(join(ROOT, 'package-lock.json'));
    const installed = await read(join(application, 'node_modules/.package-lock.json'));
    const digest = (value: unknown): unknown => (isRecord(value) ? value.integrity : undefined);
    const digests = new Set(Object.values(locked).map(digest));
    const others = Object.entries(installed);
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter(([, entry]) => !digests.has(digest(entry))).map(([path]) => path)).toEqual([]);
  });

  it('runs the whole demo', async () => {
    const { stdout } = await run(program(), ['demo', '--once'], {
      cwd: application,
      env: operatorEnvironment(),
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(stdout).toMatch(/\d+ checks ok, 0 failed/);
  });
});
