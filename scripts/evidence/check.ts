/**
 * Checks a folder of evidence without a network: its digests, its reports against the package, and the package against
 * its commit.
 */
import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readLock } from '../locked-packages.ts';
import { runToEnd, temporaryFolder } from '../run.ts';
import { DIGESTS, digestOf, faultsOfDigests, faultsOfSignature, readJson, SIGNATURE } from './files.ts';
import { REPORTS, timeOf } from './make.ts';
import { compareWithCommit, unpack } from './packed.ts';
import type { Note, Release } from './report.ts';
import { testFilesOf } from './tests.ts';

/** Without statements there is no openvex.json. */
const REQUIRED = ['release.json', ...REPORTS.map(({ file }) => file)].filter((file) => file !== 'openvex.json');

/**
 * @param root a checkout; used for commit checks when it has that commit
 * @param key the public key of the releaser
 * @param note receives findings, and checks that were not possible here
 * @returns faults, each of which names its file
 */
export function checkEvidence(root: string, folder: string, key: KeyObject | undefined, note: Note): string[] {
  const faults = faultsOfDigests(folder, REQUIRED);
  if (existsSync(join(folder, DIGESTS)) && key !== undefined) faults.push(...faultsOfSignature(folder, key));
  else if (existsSync(join(folder, SIGNATURE)))
    note(`${SIGNATURE} was not checked: give the public key with --key FILE`);
  else note(`${DIGESTS} is not signed`);
  // Modified reports need no further checks.
  if (faults.length > 0) return faults;
  try {
    return checkContent(root, folder, note);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function checkContent(root: string, folder: string, note: Note): string[] {
  const release = readRelease(folder);
  const { product, version, commit, tag, package: made } = release;
  note(`${product} ${version}, commit ${commit}, ${tag ?? 'without a tag'}`);
  using work = temporaryFolder();
  const unpacked = unpack(join(folder, made.file), join(work.path, 'unpacked'));
  const sources = join(unpacked, 'package');
  const hasCommit = runToEnd('git', ['cat-file', '-e', `${commit}^{commit}`], root).status === 0;
  const lock = readLock(readFileSync(join(sources, 'npm-shrinkwrap.json'), 'utf8'));
  const testFiles = hasCommit ? testFilesOf(root, commit) : undefined;
  const isNamed = digestOf(join(folder, made.file)) === made.sha256;
  const faults = [
    ...checkRelease(root, sources, release, hasCommit),
    ...(isNamed ? [] : [`${made.file} is not the package that release.json names`]),
    ...REPORTS.flatMap((report) => report.faults({ release, sources, lock, testFiles, folder, note })),
  ];
  // The package last, and only when everything else holds, because it takes longest.
  if (faults.length > 0) return faults;
  if (!hasCommit) {
    note(`${made.file} was not compared with its commit: this checkout does not have it`);
    return [];
  }
  const { built, differing } = compareWithCommit(root, commit, unpacked);
  const same = built
    ? 'was made again from the commit: every file is the same'
    : 'has the files of the commit; `dist` was not made again, because other packages are installed here';
  if (differing.length === 0) note(`${made.file} ${same}`);
  return differing.map((path) => `${made.file}: ${path} is not that of the commit`);
}

/** @throws {Error} when release.json has another form */
function readRelease(folder: string): Release {
  const value = readJson(folder, 'release.json');
  if (!isRelease(value)) throw new Error('release.json lacks a value');
  if (!/^[0-9a-f]{40}$/.test(value.commit)) throw new Error('release.json names no commit');
  const { file } = value.package;
  if (basename(file) === file && existsSync(join(folder, file))) return value;
  throw new Error(`${file} is missing, the package of release.json`);
}

function isRelease(value: unknown): value is Release {
  if (!isRecord(value) || !isRecord(value.package)) return false;
  const { product, version, commit, committed, tag, node, npm, package: made } = value;
  const texts = [product, version, commit, committed, tag ?? '', node, npm, made.file, made.sha256];
  return texts.every((one) => typeof one === 'string');
}

/** Differences of release.json from the package and the commit. */
function checkRelease(root: string, packed: string, release: Release, hasCommit: boolean): string[] {
  const { product, version, commit, committed, tag } = release;
  const own = readJson(packed, 'package.json');
  const [ofRelease, ofPackage] = [`${product} ${version}`, isRecord(own) ? `${own.name} ${own.version}` : 'nothing'];
  const time = hasCommit ? timeOf(root, commit) : committed;
  const verify = ['rev-parse', '--verify', '--quiet', '--end-of-options', `refs/tags/${tag}^{commit}`];
  const tagged = tag === null || !hasCommit ? commit : runToEnd('git', verify, root).stdout.trim();
  return [
    ...(ofRelease === ofPackage ? [] : [`release.json is of ${ofRelease}, the package of ${ofPackage}`]),
    ...(committed === time ? [] : [`release.json: the commit is of ${time}, not of ${committed}`]),
    ...(tag === null || tag === `v${version}` ? [] : [`release.json: ${tag} is not the tag of ${version}`]),
    ...(tagged === commit ? [] : [`release.json: ${tag} is not on the commit here (git fetch --tags)`]),
  ];
}
