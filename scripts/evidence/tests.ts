/** The report of all tests of a commit, from what vitest writes as JSON. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readAsvs } from '../asvs.ts';
import { run } from './run.ts';

export interface TestFile {
  /** From the root of the repository. */
  readonly file: string;
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

export interface TestReport {
  /** When the runs began (ISO 8601). */
  readonly began: readonly string[];
  readonly total: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly files: readonly TestFile[];
}

/** The test files of a commit. */
export function testFilesOf(root: string, commit: string): string[] {
  const listed = run('git', ['ls-tree', '-r', '-z', '--name-only', commit, 'test/', 'conformance/test/'], root);
  return listed.split('\0').filter((path) => path.endsWith('.test.ts'));
}

/** The scripts of package.json that run all tests together. */
export const TEST_SCRIPTS = ['test', 'test:conformance', 'test:slow', 'test:release', 'conformance:mutants'] as const;

/** Runs every test and returns where vitest wrote its reports. @throws {Error} when a run fails */
export function runTests(root: string, directory: string): string[] {
  return TEST_SCRIPTS.map((script) => {
    const file = join(directory, `${script.replace(':', '-')}.json`);
    const reporters = ['default', './test/support/count-reporter.ts', 'json'].map((name) => `--reporter=${name}`);
    const words = ['run', '--silent', script, '--', ...reporters, `--outputFile.json=${file}`];
    const { status } = spawnSync('npm', words, { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error(`npm run ${script} ended with ${status}`);
    return file;
  });
}

/**
 * Joins reports of vitest (`--reporter=json`).
 * @param expected the test files of the commit
 * @throws {Error} when one is not such a report, or names a file that the commit does not have
 */
export function readTestReports(files: readonly string[], expected: readonly string[]): TestReport {
  const reports = files.map((file) => {
    const report: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!isRecord(report) || !Array.isArray(report.testResults) || typeof report.startTime !== 'number') {
      throw new Error(`${file} is not a JSON report of vitest`);
    }
    const results = report.testResults.filter(isRecord);
    // An error outside a test is counted nowhere else.
    const outside = report.success === true || results.some(({ status }) => status !== 'passed') ? [] : [UNHANDLED];
    return { began: report.startTime, files: [...results.map((one) => testFile(one, expected)), ...outside] };
  });
  const all = reports.flatMap((report) => report.files).sort((a, b) => (a.file < b.file ? -1 : 1));
  const began = reports.map((report) => new Date(report.began).toISOString());
  return { began, total: totalOf(all), files: all };
}

const UNHANDLED: TestFile = {
  file: 'outside a test',
  passed: [],
  failed: ['an error that no test caught'],
  skipped: [],
};

function testFile(result: Readonly<Record<string, unknown>>, expected: readonly string[]): TestFile {
  const file = expected.find((path) => String(result.name).endsWith(`/${path}`));
  if (file === undefined) throw new Error(`the tests ran ${String(result.name)}, which the commit does not have`);
  const tests = Array.isArray(result.assertionResults) ? result.assertionResults.filter(isRecord) : [];
  const titles = (is: (status: unknown) => boolean): string[] =>
    tests.filter(({ status }) => is(status)).map(({ fullName }) => String(fullName));
  const failed = titles((status) => status === 'failed');
  return {
    file,
    passed: titles((status) => status === 'passed'),
    failed: result.status === 'failed' && failed.length === 0 ? ['the file could not be run'] : failed,
    skipped: titles((status) => status !== 'passed' && status !== 'failed'),
  };
}

function totalOf(files: readonly TestFile[]): TestReport['total'] {
  const count = (of: (file: TestFile) => readonly string[]): number =>
    files.reduce((sum, one) => sum + of(one).length, 0);
  return {
    passed: count((one) => one.passed),
    failed: count((one) => one.failed),
    skipped: count((one) => one.skipped),
  };
}

/**
 * What a report lacks: tests that failed, files that did not run, a run older than the commit.
 * @param expected the test files of the commit, when it is at hand
 * @param committed when the commit was made (ISO 8601)
 */
export function faultsOfTests(report: unknown, expected: readonly string[] | undefined, committed: string): string[] {
  if (!isReport(report)) return ['is not a report of tests'];
  const { began, total, files } = report;
  const counted = totalOf(files);
  const names = files.map(({ file }) => file);
  const early = began.filter((time) => Date.parse(time) < Date.parse(committed));
  return [
    ...(JSON.stringify(counted) === JSON.stringify(total) ? [] : ['does not count what it lists']),
    ...early.map((time) => `has a run of ${time}, before the commit of ${committed}`),
    ...files.flatMap(({ file, failed }) => failed.map((title) => `${file} failed: ${title}`)),
    ...names.filter((name, i) => names.indexOf(name) < i).map((name) => `has ${name} twice`),
    ...(expected ?? []).filter((name) => !names.includes(name)).map((name) => `${name} was not run`),
    ...(expected === undefined ? [] : names.filter((name) => !expected.includes(name))).map(
      (name) => `${name} is not a test of the commit`,
    ),
  ];
}

function isReport(value: unknown): value is TestReport {
  const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((one) => typeof one === 'string');
  return (
    isRecord(value) &&
    isTexts(value.began) &&
    isRecord(value.total) &&
    Array.isArray(value.files) &&
    value.files.every(
      (one) =>
        isRecord(one) &&
        typeof one.file === 'string' &&
        isTexts(one.passed) &&
        isTexts(one.failed) &&
        isTexts(one.skipped),
    )
  );
}

export interface AsvsReport {
  readonly standard: string;
  readonly assessment: string;
  readonly total: Readonly<Record<string, number>>;
  readonly requirements: readonly {
    readonly number: string;
    readonly state: string;
    readonly answer: string;
    readonly tests: readonly string[];
  }[];
}

/** @param page docs/compliance/asvs.md */
export function createAsvsReport(page: string): AsvsReport {
  const sections = readAsvs(page);
  return {
    standard: 'OWASP ASVS 5.0.0, levels 1 and 2',
    assessment: 'by the project itself; nobody else has verified it',
    total: Object.fromEntries(sections.map(({ state, requirements }) => [state, requirements.length])),
    requirements: sections.flatMap(({ state, requirements }) =>
      requirements.map(({ number, answer, tests }) => ({ number, state, answer, tests })),
    ),
  };
}

/** Requirements that are called met by a test that did not pass. */
export function faultsOfAsvs(asvs: AsvsReport, tests: unknown): string[] {
  if (!isReport(tests)) return [];
  const ran = new Set(
    tests.files.filter(({ passed, failed }) => passed.length > 0 && failed.length === 0).map(({ file }) => file),
  );
  return asvs.requirements
    .filter(({ state }) => state === 'Met')
    .flatMap((one) =>
      one.tests.filter((file) => !ran.has(file)).map((file) => `${one.number} counts on ${file}, which did not pass`),
    );
}
