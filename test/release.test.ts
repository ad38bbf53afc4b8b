/** Releases: one version everywhere, and a script that sets it, in a test repository. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changedMigrations, listMigrations, PLACES, release, valueAt } from '../scripts/release.ts';

const ROOT = join(import.meta.dirname, '..');
const CHANGELOG = '# Changelog\n\n## 98.0.0 – 2027-01-31\n\n- Something.\n';
let work: string;

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: work, encoding: 'utf8' });
  expect({ args, status, stderr }).toMatchObject({ status: 0 });
  return stdout.trim();
}

beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'koppelvlak-release-'));
  for (const { file } of PLACES) {
    mkdirSync(dirname(join(work, file)), { recursive: true });
    cpSync(join(ROOT, file), join(work, file));
  }
  cpSync(join(ROOT, 'migrations'), join(work, 'migrations'), { recursive: true });
  listMigrations(work);
  writeFileSync(join(work, 'CHANGELOG.md'), CHANGELOG);
  git('init', '--quiet');
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@example.invalid');
  git('config', 'commit.gpgsign', 'false');
  git('config', 'tag.gpgsign', 'false');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Start');
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const versions = (root: string): string[] =>
  PLACES.filter(({ kind }) => kind === 'version').map((place) => valueAt(root, place));

it('has the migrations of earlier releases unchanged', () => {
  expect(changedMigrations(ROOT)).toEqual([]);
});

it('refuses a released migration that has changed, and lists a new one', () => {
  const roles = join(work, 'migrations/0001-roles.sql');
  const before = readFileSync(roles, 'utf8');
  writeFileSync(roles, `${before}-- changed\n`);
  expect(changedMigrations(work)).toEqual(['0001-roles.sql']);
  expect(() => listMigrations(work)).toThrow('released migrations have changed: 0001-roles.sql');
  writeFileSync(roles, before);
  const added = join(work, 'migrations/9999-added.sql');
  writeFileSync(added, 'select 1;\n');
  listMigrations(work);
  rmSync(added);
  expect(changedMigrations(work)).toEqual(['9999-added.sql']);
  git('checkout', '--quiet', '.');
});

it('has one version, wherever it occurs', () => {
  expect(new Set(versions(ROOT)).size).toBe(1);
});

it('refuses an invalid version, or an older one', () => {
  expect(() => release(work, 'latest')).toThrow('name a version such as 1.1.0');
  expect(() => release(work, '0.0.9')).toThrow('0.0.9 is older than');
});

it('refuses a version without its section in the changelog', () => {
  expect(() => release(work, '99.0.0')).toThrow('CHANGELOG.md has no section "## 99.0.0 – YYYY-MM-DD"');
});

it('refuses a changelog with unreleased changes', () => {
  const unreleased = (what: string): void => {
    writeFileSync(join(work, 'CHANGELOG.md'), CHANGELOG.replace('## 98', `## Unreleased\n\n${what}## 98`));
    git('commit', '--all', '--quiet', '--message', 'Changelog');
  };
  unreleased('### Added\n\n- Forgotten.\n\n');
  const before = versions(work);
  expect(() => release(work, '98.0.0')).toThrow('CHANGELOG.md still has changes under "Unreleased"');
  expect(versions(work)).toEqual(before);
  // An empty section may stay.
  unreleased('');
});

it('refuses a working tree with changes, and changes nothing', () => {
  writeFileSync(join(work, 'CHANGELOG.md'), `${CHANGELOG}- More.\n`);
  const before = versions(work);
  expect(() => release(work, '98.0.0')).toThrow('the working tree has changes');
  expect(versions(work)).toEqual(before);
  git('checkout', '--quiet', 'CHANGELOG.md');
});

it('sets version and date everywhere, commits and tags', () => {
  expect(release(work, '98.0.0')).toBe('v98.0.0');
  expect(new Set(versions(work))).toEqual(new Set(['98.0.0']));
  expect(PLACES.filter(({ kind }) => kind === 'date').map((place) => valueAt(work, place))).toEqual(['2027-01-31']);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('cat-file', '-t', 'v98.0.0')).toBe('tag');
  expect(git('log', '-1', '--format=%s')).toBe('Version 98.0.0');
  // Nothing else in these files has changed.
  expect(git('diff', '--shortstat', 'HEAD~1')).toMatch(
    new RegExp(`^ ?${new Set(PLACES.map(({ file }) => file)).size} files changed, ${PLACES.length} insertions`),
  );
  expect(JSON.parse(readFileSync(join(work, 'package-lock.json'), 'utf8'))).toMatchObject({ version: '98.0.0' });
});

it('refuses a version with an existing tag', () => {
  expect(() => release(work, '98.0.0')).toThrow('tag v98.0.0 exists already');
});
