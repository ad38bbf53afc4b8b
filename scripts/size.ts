/**
 * Prints the size of the project: `node scripts/size.ts`. Lines are those of tracked files, blank ones and comments
 * included.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingGroups } from '../src/settings/read-config.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '..');
/** Generated parts: settings, pictures, licences, conformance cases. */
const GENERATED_PART = /<!-- \w+: written by .*? -->.*?(?:<!-- end of \w+ -->|$)/gs;
/** Without the page that is generated as a whole. */
const DOCUMENTS = ['*.md', ':!docs/screenshots.md'];

/** Texts of tracked files that match git patterns, such as `src/*.ts` (`*` also matches `/`) or `:!src/contracts`. */
function texts(...patterns: readonly string[]): readonly string[] {
  const listed = run('git', ['ls-files', '-z', '--', ...patterns], ROOT)
    .split('\0')
    .slice(0, -1);
  return listed.map((path) => readFileSync(join(ROOT, path), 'utf8'));
}

function lines(...patterns: readonly string[]): number {
  return texts(...patterns).reduce((sum, text) => sum + text.split('\n').length - 1, 0);
}

/** The words that people wrote. */
function words(...patterns: readonly string[]): number {
  const written = texts(...patterns).map((text) => text.replace(GENERATED_PART, ''));
  return written.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}

/** Direct ones; optional dependencies are platform-specific programs. */
const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const rows: readonly (readonly [string, number])[] = [
  ['src, lines', lines('src/*.ts')],
  ['src without generated types, lines', lines('src/*.ts', ':!src/contracts')],
  ['src, files', texts('src/*.ts').length],
  ['conformance, lines', lines('conformance/*.ts', ':!conformance/test')],
  ['conformance/test, lines', lines('conformance/test/*.ts')],
  ['tests, lines', lines('test/*.ts')],
  ['tests, files', texts('test/*.ts').length],
  ['bench, lines', lines('bench/*.ts')],
  ['scripts, lines', lines('scripts/*')],
  ['settings', Object.values(settingGroups).flatMap((group) => Object.keys(group)).length],
  ['packages at run time', Object.keys(dependencies).length],
  ['packages for development', Object.keys(devDependencies).length],
  ['migrations, files', texts('migrations/*.sql').length],
  ['documents without generated parts, words', words(...DOCUMENTS)],
  ['the same without decisions and changelog', words(...DOCUMENTS, ':!docs/decisions', ':!CHANGELOG.md')],
  ['decisions', texts('docs/decisions/0*.md').length],
];
for (const [name, count] of rows) process.stdout.write(`${name.padEnd(44)}${String(count).padStart(8)}\n`);
