/**
 * The deletion test: in a copy without `src/extensions`, the core type-checks, serves its three interfaces, and passes its tests,
 * with no more packages at run time than `MAX_PACKAGES` and no more lines than `MAX_LINES`. `node scripts/without-extensions.ts [test files]`; without names those that tell most of each interface. The copy goes into a
 * folder for temporary files.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const COPIED = ['src', 'test', 'openapi', 'migrations', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
/**
 * What tells most of each interface, by way of what loads extensions where there are any; all of the core's tests are run by naming their
 * folders. Libraries import libraries only (`test/house.test.ts`), so their tests would do the same here as in `npm test`.
 */
const TESTS = [
  ...['gegevens/delivery', 'gegevens/requests', 'gegevens/import', 'gegevens/journal'],
  ...['verwerkingenlog/acties', 'verwerkingenlog/standard', 'verwerkingenlog/versions', 'verwerkingenlog/idempotency'],
  ...['raadsfeed/feed', 'raadsfeed/promises', 'raadsfeed/commands', 'raadsfeed/redaction', 'raadsfeed/stream'],
  ...['plugins/headers', 'plugins/management', 'plugins/oauth/oauth-tokens'],
].map((path) => `test/${path}.test.ts`);
/** What the core may depend on at run time. */
const MAX_PACKAGES = 25;
/** What one person can read in a few days; without the types that are generated from the contracts. */
const MAX_LINES = 30_000;

const copy = mkdtempSync(join(tmpdir(), 'koppelvlak-core-'));
try {
  for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  rmSync(join(copy, 'src/extensions'), { recursive: true });
  const removed = removeTestsOfExtensions();
  const tsconfig: { include: string[] } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  writeFileSync(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ ...tsconfig, include: ['src', 'test', 'vitest.config.ts'] }),
  );
  console.log(`without src/extensions and ${removed} files of tests that need them`);
  const source = sourceOfCore();
  const lines = source.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
  console.log(`${lines} lines`);
  if (lines > MAX_LINES) throw new Error(`the core has more than ${MAX_LINES} lines`);
  const packages = packagesOf(source);
  console.log(`${packages.length} packages at run time: ${packages.join(', ')}`);
  if (packages.length > MAX_PACKAGES) throw new Error(`the core has more than ${MAX_PACKAGES} packages at run time`);
  const named = process.argv.slice(2);
  // `.ci/run` has the slow tests beside it.
  const workers = ['--maxWorkers', '1'];
  process.exitCode =
    run('tsc', '--noEmit', '--checkers', '1') ||
    run('vitest', 'run', '--project', 'shared', ...workers, ...(named.length > 0 ? named : TESTS));
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** The texts of what is written by hand. */
function sourceOfCore(): string[] {
  const paths = globSync('src/**/*.ts', { cwd: copy }).filter((path) => !path.startsWith('src/contracts/'));
  return paths.map((path) => readFileSync(join(copy, path), 'utf8'));
}

/** Dependencies that the source without extensions names, and the types that come with what it exports. */
function packagesOf(source: readonly string[]): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const isNamed = (name: string): boolean =>
    source.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`));
  return Object.keys(dependencies).filter((name) => name.startsWith('@types/') || isNamed(name));
}

/** Tests of the extensions, and whatever else imports them by way of any file. */
function removeTestsOfExtensions(): number {
  rmSync(join(copy, 'test/extensions'), { recursive: true });
  let removed = 0;
  for (let again = true; again; ) {
    again = false;
    for (const path of globSync('test/**/*.ts', { cwd: copy })) {
      if (!importsOf(path).some((target) => isGone(target))) continue;
      rmSync(join(copy, path));
      removed += 1;
      again = true;
    }
  }
  return removed;
}

function importsOf(path: string): string[] {
  const text = readFileSync(join(copy, path), 'utf8');
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier = '']) =>
    relative(copy, resolve(copy, dirname(path), specifier)),
  );
}

function isGone(path: string): boolean {
  return !existsSync(join(copy, path));
}

function run(program: string, ...words: string[]): number {
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin', program), words, { cwd: copy, stdio: 'inherit' });
  return status ?? 1;
}
