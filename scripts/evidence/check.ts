/** Checks a folder of evidence without a network: its digests, its reports against the package, and the package against its commit. */
import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { isAssessed } from '../licences.ts';
import { type Lock, readLock, shippedPackages } from '../locked-packages.ts';
import { type Advisory, createOpenVex, faultsOfStatements, readStatements, STATEMENTS } from './advisories.ts';
import { faultsOfSbom, purlsOf } from './cyclonedx.ts';
import { faultsOfDesignRules } from './design-rules.ts';
import { DIGESTS, faultsOfDigests, faultsOfSignature, readJson, SIGNATURE, sha256 } from './files.ts';
import { type Release, timeOf } from './make.ts';
import { compareWithCommit, inTemporary, unpack } from './packed.ts';
import { runToEnd } from './run.ts';
import { createAsvsReport, faultsOfAsvs, faultsOfTests, testFilesOf } from './tests.ts';

const REQUIRED = [
  'release.json',
  'sbom.cdx.json',
  'licences.json',
  'advisories.json',
  'design-rules.json',
  'asvs.json',
  'tests.json',
];

export interface Verdict {
  /** What holds, or could not be judged here: for a person to read. */
  readonly notes: readonly string[];
  /** Each names the file that it is about. */
  readonly faults: readonly string[];
}

/**
 * @param root a checkout; what concerns the commit is compared when it has that
 * @param key the public key of whoever released
 */
export function checkEvidence(root: string, folder: string, key?: KeyObject): Verdict {
  const notes: string[] = [];
  const digests = faultsOfDigests(folder, REQUIRED);
  if (existsSync(join(folder, DIGESTS)) && key !== undefined) digests.push(...faultsOfSignature(folder, key));
  else if (existsSync(join(folder, SIGNATURE)))
    notes.push(`${SIGNATURE} was not checked: give the public key with --key FILE`);
  else notes.push(`${DIGESTS} is not signed`);
  // Reports that are not what was made need no further judgement.
  if (digests.length > 0) return { notes, faults: digests };
  try {
    const release = readRelease(folder);
    notes.push(`${release.product} ${release.version}, commit ${release.commit}, ${release.tag ?? 'without a tag'}`);
    const faults = inTemporary((work) => {
      const unpacked = unpack(join(folder, release.package.file), join(work, 'unpacked'));
      const packed = join(unpacked, 'package');
      const hasCommit = runToEnd('git', ['cat-file', '-e', `${release.commit}^{commit}`], root).status === 0;
      const faults = [
        ...checkRelease(root, packed, release, hasCommit),
        ...checkInventory(folder, packed, release, notes),
        ...checkReports(folder, packed, release, hasCommit ? testFilesOf(root, release.commit) : undefined, notes),
      ];
      // Takes longest, so it comes last, and only when all else holds.
      return faults.length > 0 ? faults : checkPackage(root, unpacked, release, hasCommit, notes);
    });
    return { notes, faults };
  } catch (error) {
    return { notes, faults: [error instanceof Error ? error.message : String(error)] };
  }
}

/** @throws {Error} when release.json is not what the evidence has */
function readRelease(folder: string): Release {
  const value = readJson(folder, 'release.json');
  const isText = (one: unknown): one is string => typeof one === 'string';
  if (!isRecord(value) || !isRecord(value.package)) throw new Error('release.json has no package');
  const { product, version, commit, committed, tag, node, npm } = value;
  const { file, sha256: digest } = value.package;
  const texts = [product, version, commit, committed, node, npm, file, digest];
  if (!texts.every(isText) || !(tag === null || isText(tag))) throw new Error('release.json lacks a value');
  const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = ''] = texts.filter(isText);
  if (!/^[0-9a-f]{40}$/.test(c)) throw new Error('release.json names no commit');
  if (basename(g) !== g || !existsSync(join(folder, g)))
    throw new Error(`${g} is missing, the package of release.json`);
  return {
    product: a,
    version: b,
    commit: c,
    committed: d,
    tag: isText(tag) ? tag : null,
    node: e,
    npm: f,
    package: { file: g, sha256: h },
  };
}

/** Whether release.json says what the package and the commit say. */
function checkRelease(root: string, packed: string, release: Release, hasCommit: boolean): string[] {
  const { product, version, commit, committed, tag } = release;
  const own = readJson(packed, 'package.json');
  const [ofRelease, ofPackage] = [`${product} ${version}`, isRecord(own) ? `${own.name} ${own.version}` : 'nothing'];
  const time = hasCommit ? timeOf(root, commit) : committed;
  const tagged =
    tag === null || !hasCommit
      ? commit
      : runToEnd(
          'git',
          ['rev-parse', '--verify', '--quiet', '--end-of-options', `refs/tags/${tag}^{commit}`],
          root,
        ).stdout.trim();
  return [
    ...(ofRelease === ofPackage ? [] : [`release.json is of ${ofRelease}, the package of ${ofPackage}`]),
    ...(committed === time ? [] : [`release.json: the commit is of ${time}, not of ${committed}`]),
    ...(tag === null || tag === `v${version}` ? [] : [`release.json: ${tag} is not the tag of ${version}`]),
    ...(tagged === commit ? [] : [`release.json: ${String(tag)} is not on the commit here (git fetch --tags)`]),
  ];
}

function checkInventory(folder: string, packed: string, release: Release, notes: string[]): string[] {
  const lock = readLock(readFileSync(join(packed, 'npm-shrinkwrap.json'), 'utf8'));
  const sbom = readJson(folder, 'sbom.cdx.json');
  const licences = faultsOfLicences(readJson(folder, 'licences.json'), lock);
  const content = readFileSync(join(folder, release.package.file));
  const isOther = sha256(content) !== release.package.sha256;
  const bare = barePackages(readJson(folder, 'licences.json'));
  if (bare.length > 0) notes.push(`licences.json: no text of ${bare.join(', ')}`);
  return [
    ...(isOther ? [`${release.package.file} is not the package that release.json names`] : []),
    ...faultsOfSbom(sbom, lock).map((fault) => `sbom.cdx.json ${fault}`),
    ...licences.map((fault) => `licences.json ${fault}`),
    ...checkAdvisories(folder, packed, release, sbom, notes),
  ];
}

function faultsOfLicences(value: unknown, lock: Lock): string[] {
  if (!isRecord(value) || !Array.isArray(value.packages) || !isRecord(value.texts)) return ['has no packages'];
  const { texts } = value;
  const listed = value.packages.filter(isRecord);
  const label = (one: { name?: unknown; version?: unknown; license?: unknown }): string =>
    `${String(one.name)}@${String(one.version)} under ${String(one.license)}`;
  const known = new Set(listed.map(label));
  const locked = new Set(shippedPackages(lock).map(label));
  const named = listed.flatMap((one) => (Array.isArray(one.texts) ? one.texts.map(String) : []));
  return [
    ...[...locked].filter((one) => !known.has(one)).map((one) => `lacks ${one}`),
    ...[...known].filter((one) => !locked.has(one)).map((one) => `has ${one}, which the package does not`),
    ...listed
      .filter(({ license }) => !isAssessed(String(license)))
      .map((one) => `has ${label(one)}, which was not assessed`),
    ...named.filter((digest) => texts[digest] === undefined).map((digest) => `lacks the text ${digest}`),
    ...Object.entries(texts)
      .filter(([digest, text]) => sha256(String(text)) !== digest)
      .map(([digest]) => `has another text than ${digest}`),
  ];
}

/** Packages that come without a licence text, or were not installed where the evidence was made. */
function barePackages(value: unknown): string[] {
  const packages = isRecord(value) && Array.isArray(value.packages) ? value.packages.filter(isRecord) : [];
  return packages.filter(({ texts }) => !Array.isArray(texts) || texts.length === 0).map(({ name }) => String(name));
}

function checkAdvisories(folder: string, packed: string, release: Release, sbom: unknown, notes: string[]): string[] {
  const statements = readStatements(readFileSync(join(packed, STATEMENTS), 'utf8'));
  const product = `pkg:npm/${release.product}@${release.version}`;
  const vex = createOpenVex(statements, product, purlsOf(sbom), release.committed);
  const hasVex = existsSync(join(folder, 'openvex.json'));
  const faults: string[] = [];
  if (vex === undefined && hasVex) faults.push(`openvex.json states what ${STATEMENTS} of the package does not`);
  else if (vex !== undefined && !hasVex)
    faults.push(`openvex.json is missing: ${STATEMENTS} of the package has statements`);
  else if (vex !== undefined && !isDeepStrictEqual(readJson(folder, 'openvex.json'), vex)) {
    faults.push(`openvex.json does not state what ${STATEMENTS} of the package does`);
  }
  const report = readJson(folder, 'advisories.json');
  if (!isRecord(report) || typeof report.time !== 'string') return [...faults, 'advisories.json is not a report'];
  if (report.asked !== true) {
    notes.push(`advisories.json: the registry was not asked at ${report.time} (${String(report.reason)})`);
    return faults;
  }
  const advisories = (Array.isArray(report.advisories) ? report.advisories : []).filter(isAdvisory);
  if (!Array.isArray(report.advisories) || advisories.length < report.advisories.length) {
    return [...faults, 'advisories.json has something that is not an advisory'];
  }
  notes.push(`advisories.json: ${advisories.length} known at ${report.time}`);
  return [...faults, ...faultsOfStatements(advisories, statements).map((fault) => `advisories.json: ${fault}`)];
}

function isAdvisory(value: unknown): value is Advisory {
  return isRecord(value) && typeof value.id === 'string' && typeof value.package === 'string';
}

function checkReports(
  folder: string,
  packed: string,
  release: Release,
  testFiles: readonly string[] | undefined,
  notes: string[],
): string[] {
  const tests = readJson(folder, 'tests.json');
  if (isRecord(tests) && isRecord(tests.total))
    notes.push(`tests.json: ${String(tests.total.passed)} passed, ${String(tests.total.skipped)} skipped`);
  const asvs = createAsvsReport(readFileSync(join(packed, 'docs/compliance/asvs.md'), 'utf8'));
  const isAsvs = isDeepStrictEqual(readJson(folder, 'asvs.json'), JSON.parse(JSON.stringify(asvs)));
  return [
    ...faultsOfDesignRules(readJson(folder, 'design-rules.json'), packed).map((fault) => `design-rules.json: ${fault}`),
    ...(isAsvs ? [] : ['asvs.json is not what docs/compliance/asvs.md of the package says']),
    ...faultsOfTests(tests, testFiles, release.committed).map((fault) => `tests.json: ${fault}`),
    ...faultsOfAsvs(asvs, tests).map((fault) => `asvs.json: ${fault}`),
  ];
}

function checkPackage(root: string, unpacked: string, release: Release, hasCommit: boolean, notes: string[]): string[] {
  const { commit, package: made } = release;
  if (!hasCommit) {
    notes.push(`${made.file} was not compared with its commit: this checkout does not have it`);
    return [];
  }
  const { built, differing } = compareWithCommit(root, commit, unpacked);
  if (differing.length === 0) {
    notes.push(
      built
        ? `${made.file} was made again from the commit: every file is the same`
        : `${made.file} has the files of the commit; \`dist\` was not made again, because other packages are installed here`,
    );
  }
  return differing.map((path) => `${made.file}: ${path} is not that of the commit`);
}
