/** What the commands of all suites have in common: their options, and a run from the first request to the report. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { table } from '../../../cli/output.ts';
import { packageVersion } from '../../../cli/program.ts';
import { type ToolContext, UsageError } from '../../../cli/run-command.ts';
import { systemClock } from '../../../lib/time.ts';
import type { Suite, SuiteDescription, SuiteSubject } from '../case.ts';
import type { Client, ClientNeeds } from '../client.ts';
import { compareReports } from '../report/compare.ts';
import type { ConformanceReport } from '../report/report.ts';
import { differences } from './reports.ts';

export interface SuiteOptions {
  readonly only?: readonly string[];
  readonly not?: readonly string[];
  readonly list?: boolean;
  readonly strict?: boolean;
  readonly expectedFailures?: string;
  readonly rate: number;
  readonly report?: string;
  readonly save?: string;
  readonly sign?: readonly string[];
  readonly baseline?: string;
  readonly json?: boolean;
}

const MOST_PER_SECOND = 100;

export function suiteOptions(command: Command): Command {
  return command
    .option('--list', 'print the cases, and run none')
    .option('--only <ids...>', 'only these cases or chapters, or those whose clause has this text')
    .option('--not <ids...>', 'without these')
    .option('--strict', 'a should that fails counts as a must')
    .option('--expected-failures <file>', 'a file with the ids that may fail, one on a line')
    .option('--rate <number>', 'requests in a second at most', rate, 5)
    .option('--report <directory>', 'write report.html, report.json and junit.xml there')
    .option('--save <directory>', 'write every request and answer there, whole but for secrets')
    .option('--sign <files...>', 'key and certificate chain (PEM) that sign a statement beside the report')
    .option('--baseline <file>', 'an earlier report.json: what became better and worse')
    .option('--json', 'one machine-readable result');
}

function rate(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= MOST_PER_SECOND)) throw new InvalidArgumentError(`a number up to ${MOST_PER_SECOND}`);
  return number;
}

/** @throws {UsageError} when it is not the address of a service */
export function requireAddress(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) throw new UsageError('the address of the service is needed');
  return url;
}

interface SuiteRun<Subject extends SuiteSubject> {
  readonly suite: Suite<Subject>;
  readonly options: SuiteOptions;
  /** Address of what is tested, or the name of a program or file. */
  readonly tested: string;
  /** What is typed after the name of the suite. Default: what is tested. */
  readonly argument?: string;
  /** Requests that the suite did not send itself, but got. */
  readonly received?: () => number;
  /** Further options, as they were given; without secrets. */
  readonly configuration?: Readonly<Record<string, string | undefined>>;
  readonly needs?: ClientNeeds;
  /** Reads what the cases need. Where the run will write, it says so first (`say`). @throws {UsageError} when nothing can be tested */
  readonly open: (client: Client, say: (text: string) => void, isWanted: (id: string) => boolean) => Promise<Subject>;
}

/** Runs a suite and reports. @throws {UsageError} when the cases cannot be run */
export async function testSuite<Subject extends SuiteSubject>(
  context: ToolContext,
  { suite, options, tested, argument = tested, received, configuration = {}, needs, open }: SuiteRun<Subject>,
): Promise<void> {
  const { output, interrupted: signal, config, terminal } = context;
  const isWanted = selection(suite, options);
  if (options.sign !== undefined && options.report === undefined)
    throw new UsageError('--sign needs --report: the statement is written beside the report');
  const { readReport, readSigner, reportText, writeReport } = await import('./report-files.ts');
  const expectedFailures = await readExpected(options.expectedFailures);
  const baseline = options.baseline === undefined ? undefined : await readReport(options.baseline);
  const signer = options.sign === undefined ? undefined : await readSigner(options.sign);
  const [{ createClient }, { runSuite }, { makeReport }] = await Promise.all([
    import('../client.ts'),
    import('../run-suite.ts'),
    import('../report/report.ts'),
  ]);
  const { outboundProxy, outboundNoProxy } = config.server;
  const client = createClient({
    ...{ ...needs, subject: tested, rate: options.rate, signal, save: options.save },
    proxy: { outboundProxy, outboundNoProxy },
  });
  const started = systemClock.now();
  let subject: Subject | undefined;
  try {
    const name = client.mask(URL.parse(tested)?.host ?? tested);
    output.progress(`testing ${name} …`);
    subject = await open(client, output.progress, isWanted);
    const { chapters } = suite;
    const results = await runSuite({
      ...{ chapters, subject, isWanted, signal },
      onResult: ({ id, outcome }) => output.progress(`${outcome.padEnd(12)} ${id}`),
    });
    if (results.length > 0 && results.every(({ outcome }) => outcome !== 'passed' && outcome !== 'failed'))
      throw new UsageError(`${name} cannot be tested: ${client.mask(results[0]?.reason ?? '')}`);
    const given = shownOptions(options, configuration);
    const report = makeReport({
      ...{ suite, version: packageVersion(), subject: tested, started, ended: systemClock.now(), results },
      ...{ expectedFailures, strict: options.strict ?? false, requests: client.exchanges.length + (received?.() ?? 0) },
      ...{ options: given, mask: client.mask },
      again: (id) =>
        [
          'koppelvlak conformance',
          suite.name,
          ...(argument === '' ? [] : [argument]),
          ...words(configuration),
          '--only',
          id,
          '--save',
          'berichten/',
        ].join(' '),
    });
    if (options.report !== undefined) await writeReport(report, options.report, signer);
    show(context, report, reportText(report), baseline);
    if (!report.conforms) terminal.exitCode = 1;
  } finally {
    await subject?.undo?.();
    await client.close();
  }
}

/** Which cases were asked for. @throws {UsageError} when an id selects nothing */
function selection({ chapters }: SuiteDescription, { only = [], not = [] }: SuiteOptions): (id: string) => boolean {
  const cases = chapters.flatMap((chapter) => chapter.cases);
  const chosenBy = (word: string): readonly string[] => {
    const chosen = cases.filter(
      ({ id, source }) => id === word || id.startsWith(`${word}-`) || source.clause.includes(word),
    );
    if (chosen.length === 0) throw new UsageError(`there is no case ${word}`);
    return chosen.map(({ id }) => id);
  };
  const wanted = new Set(only.flatMap(chosenBy));
  const unwanted = new Set(not.flatMap(chosenBy));
  return (id) => (only.length === 0 || wanted.has(id)) && !unwanted.has(id);
}

/** The ids in a file; what follows a `#` is a remark. @throws {UsageError} */
async function readExpected(file: string | undefined): Promise<ReadonlySet<string>> {
  if (file === undefined) return new Set();
  const text = await readFile(file, 'utf8').catch(() => {
    throw new UsageError(`${file} cannot be read`);
  });
  const ids = text.split('\n').map((line) => line.replace(/#.*/, '').trim());
  return new Set(ids.filter((id) => id !== ''));
}

function shownOptions(
  { only, not, strict, rate: perSecond }: SuiteOptions,
  configuration: NonNullable<SuiteRun<SuiteSubject>['configuration']>,
): Readonly<Record<string, unknown>> {
  return {
    ...Object.fromEntries(Object.entries(configuration).filter(([, value]) => value !== undefined)),
    rate: perSecond,
    ...(strict ? { strict } : {}),
    ...(only === undefined ? {} : { only: only.join(' ') }),
    ...(not === undefined ? {} : { not: not.join(' ') }),
  };
}

/** Options as they are typed. */
function words(configuration: NonNullable<SuiteRun<SuiteSubject>['configuration']>): readonly string[] {
  return Object.entries(configuration).flatMap(([name, value]) => (value === undefined ? [] : [`--${name} ${value}`]));
}

function show(
  { output }: ToolContext,
  report: ConformanceReport,
  text: string,
  baseline: ConformanceReport | undefined,
): void {
  const changed = baseline === undefined ? undefined : compareReports([baseline, report]);
  output.result(changed === undefined ? report : { ...report, changed }, () => {
    output.line(text);
    if (changed !== undefined) output.line(differences(['then', 'now'], changed) ?? 'Nothing changed since.');
  });
}

export function listCases({ output }: ToolContext, suite: SuiteDescription, options: SuiteOptions): void {
  const isWanted = selection(suite, options);
  const cases = suite.chapters.flatMap((chapter) => chapter.cases).filter(({ id }) => isWanted(id));
  const listed = cases.map(({ id, level, title, source }) => ({ id, level, title, source }));
  output.result(listed, () => {
    const rows = listed.map(({ id, level, title, source }) => [
      id,
      level,
      `${source.document}, ${source.clause}`,
      title.en,
    ]);
    output.line(table(['case', 'level', 'source', 'title'], rows));
  });
}
