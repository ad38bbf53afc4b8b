/**
 * Prints the size of the project: `node scripts/size.ts`. Lines are those of tracked files, blank ones and comments
 * included.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingGroups } from '../src/settings/read-config.ts';

const ROOT = join(import.meta.dirname, '..');
const GENERATED = 'src/contracts/';
/** Generated parts and pages: settings, pictures, licences, conformance cases. */
const GENERATED_PART = /<!-- \w+: written by .*? -->.*?(?:<!-- end of \w+ -->|$)/gs;
const GENERATED_PAGE = 'docs/screenshots.md';

/** Paths of tracked files that match git patterns, such as `src/*.ts` (`*` also matches `/`). */
function tracked(...patterns: readonly string[]): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...patterns], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\0').filter((path) => path !== '');
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function lines(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0);
}

function words(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** The words that people wrote. */
function written(paths: readonly string[]): number {
  const pages = paths.filter((path) => path !== GENERATED_PAGE);
  return pages.reduce((sum, path) => sum + words(read(path).replace(GENERATED_PART, '')), 0);
}

const source = tracked('src/*.ts');
const own = source.filter((path) => !path.startsWith(GENERATED));
const suites = tracked('conformance/*.ts');
const suiteTests = suites.filter((path) => path.startsWith('conformance/test/'));
const tests = tracked('test/*.ts');
const documents = tracked('*.md');
/** Direct ones; optional dependencies are platform-specific programs. */
const { dependencies, devDependencies } = JSON.parse(read('package.json'));

const rows: readonly (readonly [string, number])[] = [
  ['src, lines', lines(source)],
  ['src without generated types, lines', lines(own)],
  ['src, files', source.length],
  ['conformance, lines', lines(suites) - lines(suiteTests)],
  ['conformance/test, lines', lines(suiteTests)],
  ['tests, lines', lines(tests)],
  ['tests, files', tests.length],
  ['bench, lines', lines(tracked('bench/*.ts'))],
  ['scripts, lines', lines(tracked('scripts/*'))],
  ['settings', Object.values(settingGroups).flatMap((group) => Object.keys(group)).length],
  ['packages at run time', Object.keys(dependencies).length],
  ['packages for development', Object.keys(devDependencies).length],
  ['migrations, files', tracked('migrations/*.sql').length],
  ['documents without generated parts, words', written(documents)],
  [
    'the same without decisions and changelog',
    written(documents.filter((path) => !/^(?:docs\/decisions\/|CHANGELOG)/.test(path))),
  ],
  ['decisions', tracked('docs/decisions/0*.md').length],
];
for (const [name, count] of rows) process.stdout.write(`${name.padEnd(44)}${String(count).padStart(8)}\n`);
