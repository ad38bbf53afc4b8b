/** Makes the evidence of a release, in a new folder. */
import type { KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { isAssessed, licenceTexts, readShipped } from '../licences.ts';
import { type Lock, readLock } from '../locked-packages.ts';
import { createSbom } from '../sbom.ts';
import {
  type AdvisoryReport,
  askRegistry,
  createOpenVex,
  faultsOfStatements,
  readAudit,
  readStatements,
  STATEMENTS,
} from './advisories.ts';
import { faultsOfSbom, purlsOf } from './cyclonedx.ts';
import { checkDesignRules, faultsOfDesignRules } from './design-rules.ts';
import { sha256, writeDigests, writeJson } from './files.ts';
import { inTemporary, packTwice } from './packed.ts';
import { run } from './run.ts';
import { createAsvsReport, faultsOfAsvs, faultsOfTests, readTestReports, runTests, testFilesOf } from './tests.ts';

export interface Wishes {
  readonly folder: string | undefined;
  /** Reports of vitest; without any the tests are run. */
  readonly tests: readonly string[];
  /** What `npm audit --json` printed elsewhere; without it the registry is asked. */
  readonly audit: string | undefined;
  /** Nobody is asked about vulnerabilities. */
  readonly offline: boolean;
  readonly key: KeyObject | undefined;
}

/** What the evidence is about. `release.json` has it. */
export interface Release {
  readonly product: string;
  readonly version: string;
  readonly commit: string;
  /** When that was made (ISO 8601, UTC). */
  readonly committed: string;
  /** The tag of the version, when it is on this commit. */
  readonly tag: string | null;
  readonly node: string;
  readonly npm: string;
  readonly package: { readonly file: string; readonly sha256: string };
}

/**
 * @param root of the checkout, whose packages are installed
 * @param say takes a line about what happens
 * @returns the folder
 * @throws {Error} that names everything that keeps this from being a release; the folder is not made then
 */
export function makeEvidence(root: string, wishes: Wishes, say: (line: string) => void): string {
  if (!isClean(root)) throw new Error('the working tree has changes: commit them first');
  const source = describe(root);
  const folder = wishes.folder ?? join(root, `evidence-${source.version}`);
  if (existsSync(folder)) throw new Error(`${folder} exists: remove it, or name another folder`);
  if (source.tag === null)
    say(`The commit has no tag v${source.version}: this is evidence of a commit, not of a release.`);

  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  try {
    refuse([...writeInventory(root, unfinished, source, wishes, say), ...writeDesignRules(root, unfinished)]);
    refuse(writeTests(root, unfinished, source, wishes, say));
    // All that came before was of the files in the checkout, and takes long.
    if (!isClean(root) || describe(root).commit !== source.commit)
      throw new Error(`the checkout changed meanwhile: it was to be of ${source.commit}`);
    say('Packing twice, each in a clone of its own …');
    const { file, content } = packTwice(root, source.commit);
    writeFileSync(join(unfinished, file), content);
    writeJson(unfinished, 'release.json', { ...source, package: { file, sha256: sha256(content) } } satisfies Release);
    writeDigests(unfinished, wishes.key);
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

function isClean(root: string): boolean {
  return run('git', ['status', '--porcelain'], root) === '';
}

/** When a commit was made (ISO 8601, UTC). */
export function timeOf(root: string, commit: string): string {
  const seconds = Number(run('git', ['show', '--no-patch', '--format=%ct', commit], root));
  return new Date(seconds * 1000).toISOString().replace('.000', '');
}

function describe(root: string): Omit<Release, 'package'> {
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

type Source = ReturnType<typeof describe>;

/** The bill of materials, the licences, the advisories and what is stated about them. Returns what is wrong with them. */
function writeInventory(
  root: string,
  folder: string,
  source: Source,
  wishes: Wishes,
  say: (line: string) => void,
): string[] {
  const lock = readLock(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const sbom = createSbom(source.committed);
  writeJson(folder, 'sbom.cdx.json', sbom);

  const texts: Record<string, string> = {};
  const packages = readShipped().map((shipped) => {
    const digests = licenceTexts(shipped).map((text) => {
      texts[sha256(text)] = text;
      return sha256(text);
    });
    const { name, version, license, optional } = shipped;
    return { name, version, license, optional, texts: digests };
  });
  writeJson(folder, 'licences.json', { packages, texts });

  const statements = readStatements(readFileSync(join(root, STATEMENTS), 'utf8'));
  const report = askAdvisories(lock, wishes, say);
  writeJson(folder, 'advisories.json', report);
  const vex = createOpenVex(statements, `pkg:npm/${source.product}@${source.version}`, purlsOf(sbom), source.committed);
  if (vex !== undefined) writeJson(folder, 'openvex.json', vex);
  return [
    ...faultsOfSbom(sbom, lock).map((fault) => `sbom.cdx.json ${fault}`),
    ...packages
      .filter(({ license }) => !isAssessed(license))
      .map(({ name, license }) => `${name}: the licence ${license} was not assessed (scripts/licences.ts)`),
    ...(report.asked ? faultsOfStatements(report.advisories, statements) : []),
  ];
}

/** @throws {Error} when the registry gives no answer, and that is not what was wished */
function askAdvisories(lock: Lock, { audit, offline }: Wishes, say: (line: string) => void): AdvisoryReport {
  const time = new Date().toISOString();
  if (offline) return { time, asked: false, reason: 'made with --offline' };
  if (audit !== undefined) {
    const given = readFileSync(audit, 'utf8');
    return { time: statSync(audit).mtime.toISOString(), asked: true, advisories: readAudit(given, lock) };
  }
  say('Asking the registry for known vulnerabilities …');
  try {
    return { time, asked: true, advisories: askRegistry(lock) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the registry could not be asked for known vulnerabilities at ${time}: ${reason}
Give what \`npm audit --json\` prints elsewhere with --audit FILE, or leave them unknown with --offline.`);
  }
}

/** What the linter says of the contracts. Returns what is wrong with them. */
function writeDesignRules(root: string, folder: string): string[] {
  const report = checkDesignRules(root);
  writeJson(folder, 'design-rules.json', report);
  return faultsOfDesignRules(report, root).map((fault) => `design-rules.json: ${fault}`);
}

/** The reports of the tests and of the ASVS, which counts on them. Returns what is wrong with them. */
function writeTests(
  root: string,
  folder: string,
  source: Source,
  { tests: given }: Wishes,
  say: (line: string) => void,
): string[] {
  const expected = testFilesOf(root, source.commit);
  if (given.length === 0)
    say('Running all tests, which takes ten minutes or more: --tests FILE takes a report instead …');
  const tests = inTemporary((directory) =>
    readTestReports(given.length > 0 ? given : runTests(root, directory), expected),
  );
  writeJson(folder, 'tests.json', tests);
  const asvs = createAsvsReport(readFileSync(join(root, 'docs/compliance/asvs.md'), 'utf8'));
  writeJson(folder, 'asvs.json', asvs);
  return [
    ...faultsOfTests(tests, expected, source.committed).map((fault) => `tests.json: ${fault}`),
    ...faultsOfAsvs(asvs, tests).map((fault) => `asvs.json: ${fault}`),
  ];
}

/** @throws {Error} with all that is wrong, a line each */
function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
