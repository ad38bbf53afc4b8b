/**
 * Makes a release: `npm run release -- 1.1.0` sets the version wherever it occurs, lists the released migrations,
 * commits that and creates an annotated tag `v1.1.0`. It pushes nothing. The changelog must have a section for the
 * version, `## 1.1.0 – 2027-01-31`, and nothing under `## Unreleased`; the working tree must be clean.
 */
import { hash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { run } from './run.ts';

interface Place {
  readonly file: string;
  /** Its second group is the value. */
  readonly pattern: RegExp;
  readonly kind: 'version' | 'date';
}

const PACKAGE: Place = { file: 'package.json', pattern: /^( {2}"version": ")([^"]+)/m, kind: 'version' };
/** Where the version and the release date occur. Contracts have their own versions. */
export const PLACES: readonly Place[] = [
  PACKAGE,
  { ...PACKAGE, file: 'package-lock.json' },
  {
    file: 'package-lock.json',
    pattern: /^( {4}"": \{\s+"name": "koppelvlak",\s+"version": ")([^"]+)/m,
    kind: 'version',
  },
  { file: 'deploy/helm/Chart.yaml', pattern: /^(version: )(\S+)/m, kind: 'version' },
  { file: 'deploy/helm/Chart.yaml', pattern: /^(appVersion: ")([^"]+)/m, kind: 'version' },
  { file: 'publiccode.yml', pattern: /^(softwareVersion: ")([^"]+)/m, kind: 'version' },
  { file: 'publiccode.yml', pattern: /^(releaseDate: ")([^"]+)/m, kind: 'date' },
  { file: 'docs/installing.md', pattern: /(\/koppelvlak-)(\d[^/]*?)(?=\.tgz)/, kind: 'version' },
  { file: 'Dockerfile', pattern: /(org\.opencontainers\.image\.version=")([^"]+)/, kind: 'version' },
];

/** Holds the SHA-256 of every released migration, none of which may change. */
const LIST = 'migrations/released.json';

/**
 * The current value.
 * @throws when the file has no such line
 */
export function valueAt(root: string, { file, pattern }: Place): string {
  const value = pattern.exec(readFileSync(join(root, file), 'utf8'))?.[2];
  if (value === undefined) throw new Error(`${file} has no match for ${String(pattern)}`);
  return value;
}

/**
 * Releases the repository at `root` as `version` and returns the tag.
 * @throws Error with the unmet condition, before anything has changed
 */
export function release(root: string, version: string): string {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name a version such as 1.1.0');
  const tag = `v${version}`;
  const current = valueAt(root, PACKAGE);
  if (version.localeCompare(current, 'en', { numeric: true }) < 0)
    throw new Error(`${version} is older than ${current}, the version of package.json`);
  if (git(root, 'status', '--porcelain') !== '') throw new Error('the working tree has changes: commit them first');
  if (git(root, 'tag', '--list', tag) !== '') throw new Error(`tag ${tag} exists already`);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const section = new RegExp(`^## ${version.replaceAll('.', '\\.')} – (\\d{4}-\\d{2}-\\d{2})$`, 'm');
  const date = section.exec(changelog)?.[1];
  if (date === undefined) throw new Error(`CHANGELOG.md has no section "## ${version} – YYYY-MM-DD"`);
  if (/^## Unreleased\n\s*^(?!## )./m.test(changelog)) {
    throw new Error(`CHANGELOG.md still has changes under "Unreleased": move them to the section of ${version}`);
  }

  for (const place of PLACES) valueAt(root, place);
  for (const { file, pattern, kind } of PLACES) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    const value = kind === 'version' ? version : date;
    writeFileSync(
      path,
      text.replace(pattern, (_found, before: string) => before + value),
    );
  }
  listMigrations(root);
  // The first release may find everything already set.
  if (git(root, 'status', '--porcelain') !== '')
    git(root, 'commit', '--all', '--quiet', '--message', `Version ${version}`);
  git(root, 'tag', '--annotate', tag, '--message', `Koppelvlak ${version}`);
  return tag;
}

function currentHashes(root: string): Readonly<Record<string, string>> {
  const names = globSync('*.sql', { cwd: join(root, 'migrations') }).sort();
  return Object.fromEntries(names.map((name) => [name, hash('sha256', readFileSync(join(root, 'migrations', name)))]));
}

/** Released migrations that were changed or deleted. */
export function changedMigrations(root: string): string[] {
  const current = currentHashes(root);
  const released: object = JSON.parse(readFileSync(join(root, LIST), 'utf8'));
  return Object.entries(released).flatMap(([name, digest]) => (current[name] === digest ? [] : [name]));
}

/**
 * Adds the migrations that are not listed yet.
 * @throws Error when a released one has changed
 */
export function listMigrations(root: string): void {
  const changed = changedMigrations(root);
  if (changed.length > 0) throw new Error(`released migrations have changed: ${changed.join(', ')}`);
  writeFileSync(join(root, LIST), `${JSON.stringify(currentHashes(root), undefined, 2)}\n`);
}

function git(root: string, ...args: readonly string[]): string {
  return run('git', args, root).trim();
}

if (import.meta.main) {
  try {
    const tag = release(join(import.meta.dirname, '..'), process.argv[2] ?? '');
    console.log(`Tagged ${tag}. Push it with: git push --follow-tags`);
  } catch (error) {
    console.error(`release: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
