/** Makes the evidence of a release, in a new folder. */
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readLock } from '../locked-packages.ts';
import { run } from '../run.ts';
import { advisories, openVex } from './advisories.ts';
import { designRules } from './design-rules.ts';
import { writeDigests, writeJson } from './files.ts';
import { licences, sbom } from './inventory.ts';
import { packTwice } from './packed.ts';
import type { Release, Report, Subject, Wishes } from './report.ts';
import { asvs, testFilesOf, tests } from './tests.ts';

/** The quick reports, and the one that may run all tests. */
const ROUNDS: readonly (readonly Report[])[] = [
  [sbom, licences, advisories, openVex, designRules],
  [tests, asvs],
];
export const REPORTS: readonly Report[] = ROUNDS.flat();

/**
 * @param root of the checkout, with its packages installed
 * @returns the folder
 * @throws {Error} naming everything that prevents a release; the folder is then not created
 */
export function makeEvidence(root: string, wishes: Wishes): string {
  if (!isClean(root)) throw new Error('the working tree has changes: commit them first');
  const release = describe(root);
  const target = wishes.folder ?? join(root, `evidence-${release.version}`);
  if (existsSync(target)) throw new Error(`${target} exists: remove it, or name another folder`);
  if (release.tag === null)
    console.log(`The commit has no tag v${release.version}: this is evidence of a commit, not of a release.`);

  const folder = `${target}.unfinished`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    const lock = readLock(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const testFiles = testFilesOf(root, release.commit);
    const subject: Subject = { release, sources: root, lock, testFiles, folder, note: () => undefined };
    for (const reports of ROUNDS) {
      for (const { file, make } of reports) {
        const value = make(subject, wishes);
        if (value !== undefined) writeJson(folder, file, value);
      }
      const faults = reports.flatMap((report) => report.faults(subject));
      if (faults.length > 0) throw new Error(faults.join('\n'));
    }
    // The reports so far cover the files of the checkout, and took long to make.
    if (!isClean(root) || describe(root).commit !== release.commit)
      throw new Error(`the checkout changed meanwhile: it should be at ${release.commit}`);
    console.log('Packing twice, each in a clone of its own …');
    const { file, content } = packTwice(root, release.commit);
    writeFileSync(join(folder, file), content);
    const made: Release = { ...release, package: { file, sha256: hash('sha256', content) } };
    writeJson(folder, 'release.json', made);
    writeDigests(folder, wishes.key);
    renameSync(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return target;
}

function isClean(root: string): boolean {
  return run('git', ['status', '--porcelain'], root) === '';
}

/** The time of a commit (ISO 8601, UTC). */
export function timeOf(root: string, commit: string): string {
  const seconds = Number(run('git', ['show', '--no-patch', '--format=%ct', commit], root));
  return new Date(seconds * 1000).toISOString().replace('.000', '');
}

function describe(root: string): Subject['release'] {
  const own: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  if (!isRecord(own)) throw new TypeError('package.json is not an object');
  const version = String(own.version);
  const commit = run('git', ['rev-parse', 'HEAD'], root).trim();
  const tag = `v${version}`;
  const isTagged = run('git', ['tag', '--points-at', commit], root).split('\n').includes(tag);
  return {
    product: String(own.name),
    version,
    commit,
    committed: timeOf(root, commit),
    tag: isTagged ? tag : null,
    node: process.version,
    npm: run('npm', ['--version'], root).trim(),
  };
}
