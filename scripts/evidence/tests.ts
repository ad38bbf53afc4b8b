/** The report of all tests of a commit, from vitest's JSON output, and the ASVS answers that cite them. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readAsvs } from '../asvs.ts';
import { run, temporaryFolder } from '../run.ts';
import { readJson } from './files.ts';
import { lacking, type Report, records } from './report.ts';

const OUTCOMES = ['passed', 'failed', 'skipped'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Titles by outcome. */
interface TestFile extends Readonly<Record<Outcome, readonly string[]>> {
  /** Path from the root of the repository. */
  readonly file: string;
}

interface TestReport {
  /** When the runs began (ISO 8601). */
  readonly began: readonly string[];
  readonly total: Readonly<Record<Outcome, number>>;
  readonly files: readonly TestFile[];
}

/** The test files of a commit. */
export function testFilesOf(root: string, commit: string): string[] {
  const listed = run('git', ['ls-tree', '-r', '-z', '--name-only', commit, 'test/', 'conformance/test/'], root);
  return listed.split('\0').filter((path) => path.endsWith('.test.ts'));
}

/** The scripts in package.json that together run all tests. */
export const TEST_SCRIPTS = ['test', 'test:conformance', 'test:slow', 'test:release', 'conformance:mutants'] as const;

/**
 * Runs every test and returns the paths of vitest's reports.
 * @throws {Error} when a run fails
 */
function runTests(root: string, directory: string): string[] {
  console.log('Running all tests, which takes ten minutes or more: --tests FILE takes a report instead …');
  return TEST_SCRIPTS.map((script) => {
    const file = join(directory, `${script.replace(':', '-')}.json`);
    const reporters = ['default', './test/support/count-reporter.ts', 'json'].map((name) => `--reporter=${name}`);
    const words = ['run', '--silent', script, '--', ...reporters, `--outputFile.json=${file}`];
    const { status } = spawnSync('npm', words, { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error(`npm run ${script} ended with ${status}`);
    return file;
  });
}

export const tests: Report = {
  file: 'tests.json',
  make: ({ sources, testFiles = [] }, { tests: given }) => {
    using folder = temporaryFolder();
    return joinReports(given.length > 0 ? given : runTests(sources, folder.path), testFiles);
  },
  faults: ({ folder, testFiles, release, note }) => {
    const report = readJson(folder, 'tests.json');
    if (!isReport(report)) return ['tests.json: is not a report of tests'];
    const { began, total, files } = report;
    note(`tests.json: ${total.passed} passed, ${total.skipped} skipped`);
    const names = files.map(({ file }) => file);
    const expected = testFiles ?? names;
    return [
      ...(isDeepStrictEqual(totalOf(files), total) ? [] : ['does not count what it lists']),
      ...began
        .filter((time) => Date.parse(time) < Date.parse(release.committed))
        .map((time) => `has a run of ${time}, before the commit of ${release.committed}`),
      ...files.flatMap(({ file, failed }) => failed.map((title) => `${file} failed: ${title}`)),
      ...names.filter((name, i) => names.indexOf(name) < i).map((name) => `has ${name} twice`),
      ...lacking(expected, names).map((name) => `${name} was not run`),
      ...lacking(names, expected).map((name) => `${name} is not a test of the commit`),
    ].map((fault) => `tests.json: ${fault}`);
  },
};

/**
 * Merges vitest reports (`--reporter=json`).
 * @param expected the test files of the commit
 * @throws {Error} when one is not such a report, or names a file that the commit lacks
 */
function joinReports(paths: readonly string[], expected: readonly string[]): TestReport {
  const began: string[] = [];
  const files = paths.flatMap((path) => {
    const report: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isRecord(report) || !Array.isArray(report.testResults) || typeof report.startTime !== 'number') {
      throw new Error(`${path} is not a JSON report of vitest`);
    }
    began.push(new Date(report.startTime).toISOString());
    const results = records(report.testResults);
    const own = results.map((one) => testFile(one, expected));
    // vitest counts an error outside a test nowhere else.
    if (report.success === true || results.some(({ status }) => status !== 'passed')) return own;
    const failed = ['an error that no test caught'];
    return [...own, { file: 'outside a test', passed: [], failed, skipped: [] }];
  });
  return { began, total: totalOf(files), files: files.sort((a, b) => (a.file < b.file ? -1 : 1)) };
}

function testFile(result: Readonly<Record<string, unknown>>, expected: readonly string[]): TestFile {
  const file = expected.find((path) => String(result.name).endsWith(`/${path}`));
  if (file === undefined) throw new Error(`the tests ran ${String(result.name)}, which the commit does not have`);
  const { passed, failed, skipped } = Object.groupBy(records(result.assertionResults), ({ status }) =>
    status === 'passed' || status === 'failed' ? status : 'skipped',
  );
  const titles = (list: readonly Record<string, unknown>[] = []): string[] =>
    list.map(({ fullName }) => String(fullName));
  const isUnrun = result.status === 'failed' && failed === undefined;
  return {
    file,
    passed: titles(passed),
    failed: isUnrun ? ['the file could not be run'] : titles(failed),
    skipped: titles(skipped),
  };
}

function totalOf(files: readonly TestFile[]): TestReport['total'] {
  const count = (of: Outcome): number => files.reduce((sum, file) => sum + file[of].length, 0);
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

function isReport(value: unknown): value is TestReport {
  const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((one) => typeof one === 'string');
  const isFile = (one: unknown): boolean =>
    isRecord(one) && isTexts([one.file]) && OUTCOMES.every((outcome) => isTexts(one[outcome]));
  if (!isRecord(value) || !isTexts(value.began) || !isRecord(value.total)) return false;
  return Array.isArray(value.files) && value.files.every(isFile);
}

export const asvs: Report = {
  file: 'asvs.json',
  make: ({ sources }) => createAsvs(sources),
  faults: ({ folder, sources }) => {
    const report = createAsvs(sources);
    const isSame = isDeepStrictEqual(readJson(folder, 'asvs.json'), report);
    const ran = readJson(folder, 'tests.json');
    if (!isReport(ran)) return [];
    const isPassed = ({ passed, failed }: TestFile): boolean => passed.length > 0 && failed.length === 0;
    const passed = ran.files.filter(isPassed).map(({ file }) => file);
    const met = report.requirements.filter(({ state }) => state === 'Met');
    return [
      ...(isSame ? [] : ['asvs.json differs from docs/compliance/asvs.md in the package']),
      ...met.flatMap(({ number, tests: needed }) =>
        lacking(needed, passed).map((file) => `asvs.json: ${number} relies on ${file}, which did not pass`),
      ),
    ];
  },
};

function createAsvs(sources: string) {
  const sections = readAsvs(readFileSync(join(sources, 'docs/compliance/asvs.md'), 'utf8'));
  return {
    standard: 'OWASP ASVS 5.0.0, levels 1 and 2',
    assessment: 'by the project itself; nobody else has verified it',
    total: Object.fromEntries(sections.map(({ state, requirements }) => [state, requirements.length])),
    requirements: sections.flatMap(({ state, requirements }) =>
      requirements.map(({ number, answer, tests: named }) => ({ number, state, answer, tests: named })),
    ),
  };
}
