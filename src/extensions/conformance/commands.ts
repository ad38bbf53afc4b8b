/** `koppelvlak conformance …`: tests anybody's implementation of these interfaces. */
import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { table } from '../../cli/output.ts';
import { packageVersion } from '../../cli/program.ts';
import { runTool, type ToolContext, UsageError } from '../../cli/run-command.ts';
import { systemClock } from '../../lib/time.ts';
import type { Terminal } from '../../seams/terminal.ts';
import type { Chapter, SuiteSubject } from './case.ts';
import { compareReports, type Difference } from './report/compare.ts';
import type { ConformanceReport } from './report/report.ts';

interface SuiteOptions {
  readonly only?: readonly string[];
  readonly not?: readonly string[];
  readonly list?: boolean;
  readonly strict?: boolean;
  readonly expectedFailures?: string;
  readonly rate: number;
  readonly report?: string;
  readonly baseline?: string;
  readonly json?: boolean;
}

const EXAMPLE = `
Reads only. The exit status is 0 when no must failed, 1 when one did, and 2 when the cases could not be run.

Examples:
  $ koppelvlak conformance raadsfeed https://raad.example/ori/v1 --report verslag/
  $ koppelvlak conformance raadsfeed https://raad.example/ori/v1 --only C-STR --not C-STR-09
  $ koppelvlak conformance raadsfeed --list`;
const MOST_PER_SECOND = 100;

export function addCommands(program: Command, terminal: Terminal): void {
  const conformance = new Command('conformance').description('test an implementation of these interfaces');
  conformance.addCommand(raadsfeedCommand(terminal));
  conformance.addCommand(badgeCommand(terminal));
  conformance.addCommand(compareCommand(terminal));
  program.addCommand(conformance);
}

function raadsfeedCommand(terminal: Terminal): Command {
  return suiteOptions(new Command('raadsfeed'))
    .description('test a publisher of council information')
    .argument('[url]', 'address of its service document')
    .addHelpText('after', EXAMPLE)
    .action((url: string | undefined, options: SuiteOptions) =>
      runTool(terminal, options, async (context) => {
        const { RAADSFEED } = await import('./raadsfeed/suite.ts');
        if (options.list) return listCases(context, RAADSFEED, options);
        const { readSubject } = await import('./raadsfeed/subject.ts');
        await testSuite(context, { suite: 'raadsfeed', chapters: RAADSFEED, url, options, readSubject });
      }),
    );
}

function suiteOptions(command: Command): Command {
  return command
    .option('--list', 'print the cases, and run none')
    .option('--only <ids...>', 'only these cases or chapters, or those whose clause has this text')
    .option('--not <ids...>', 'without these')
    .option('--strict', 'a should that fails counts as a must')
    .option('--expected-failures <file>', 'a file with the ids that may fail, one on a line')
    .option('--rate <number>', 'requests in a second at most', rate, 5)
    .option('--report <directory>', 'write report.html, report.json and junit.xml there')
    .option('--baseline <file>', 'an earlier report.json: what became better and worse')
    .option('--json', 'one machine-readable result');
}

function rate(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= MOST_PER_SECOND)) throw new InvalidArgumentError(`a number up to ${MOST_PER_SECOND}`);
  return number;
}

interface Suite<Subject extends SuiteSubject> {
  readonly suite: string;
  readonly chapters: readonly Chapter<Subject>[];
  readonly url: string | undefined;
  readonly options: SuiteOptions;
  readonly readSubject: (url: string, client: Subject['client']) => Promise<Subject>;
}

/** @throws {UsageError} when the cases cannot be run */
async function testSuite<Subject extends SuiteSubject>(context: ToolContext, suite: Suite<Subject>): Promise<void> {
  const { output, interrupted: signal, config, terminal } = context;
  const { chapters, url, options } = suite;
  if (url === undefined || !URL.canParse(url)) throw new UsageError('the address of the service is needed');
  const isWanted = selection(chapters, options);
  const { readReport, reportText, writeReport } = await import('./commands/report-files.ts');
  const expectedFailures = await readExpected(options.expectedFailures);
  const baseline = options.baseline === undefined ? undefined : await readReport(options.baseline);
  const [{ createClient }, { runSuite }, { makeReport }] = await Promise.all([
    import('./client.ts'),
    import('./run-suite.ts'),
    import('./report/report.ts'),
  ]);
  const { outboundProxy, outboundNoProxy } = config.server;
  const client = createClient({ subject: url, rate: options.rate, signal, proxy: { outboundProxy, outboundNoProxy } });
  const started = systemClock.now();
  try {
    output.progress(`reading ${new URL(url).host} …`);
    const subject = await suite.readSubject(url, client);
    const results = await runSuite({
      ...{ chapters, subject, isWanted, signal },
      onResult: ({ id, outcome }) => output.progress(`${outcome.padEnd(12)} ${id}`),
    });
    if (results.length > 0 && results.every(({ outcome }) => outcome !== 'passed' && outcome !== 'failed'))
      throw new UsageError(`${new URL(url).host} cannot be tested: ${results[0]?.reason ?? ''}`);
    const report = makeReport({
      ...{
        suite: suite.suite,
        version: packageVersion(),
        subject: url,
        started,
        ended: systemClock.now(),
        results,
        chapters,
      },
      ...{ expectedFailures, strict: options.strict ?? false, requests: client.exchanges.length },
      options: shownOptions(options),
    });
    if (options.report !== undefined) await writeReport(report, options.report);
    show(context, report, reportText(report), baseline);
    if (!report.conforms) terminal.exitCode = 1;
  } finally {
    await client.close();
  }
}

/** Which cases were asked for. @throws {UsageError} when an id selects nothing */
function selection<Subject extends SuiteSubject>(
  chapters: readonly Chapter<Subject>[],
  { only = [], not = [] }: SuiteOptions,
): (id: string) => boolean {
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

function shownOptions({ only, not, strict, rate: perSecond }: SuiteOptions): Readonly<Record<string, unknown>> {
  return {
    rate: perSecond,
    ...(strict ? { strict } : {}),
    ...(only === undefined ? {} : { only: only.join(' ') }),
    ...(not === undefined ? {} : { not: not.join(' ') }),
  };
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

/** @param names of the reports @returns undefined where there are none */
function differences(names: readonly string[], found: readonly Difference[]): string | undefined {
  const rows = found.map(({ id, outcomes, title }) => [id, ...outcomes.map((one) => one ?? '(not run)'), title]);
  return rows.length === 0 ? undefined : table(['case', ...names, 'title'], rows);
}

function listCases<Subject extends SuiteSubject>(
  { output }: ToolContext,
  chapters: readonly Chapter<Subject>[],
  options: SuiteOptions,
): void {
  const isWanted = selection(chapters, options);
  const cases = chapters.flatMap((chapter) => chapter.cases).filter(({ id }) => isWanted(id));
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

function badgeCommand(terminal: Terminal): Command {
  return new Command('badge')
    .description('a badge for a page, as SVG on standard output')
    .argument('<report>', 'a report.json')
    .addHelpText('after', '\nExample:\n  $ koppelvlak conformance badge verslag/report.json > badge.svg')
    .action((file: string) =>
      runTool(terminal, {}, async ({ output }) => {
        const { readReport } = await import('./commands/report-files.ts');
        const { reportBadge } = await import('./report/junit.ts');
        output.line(reportBadge(await readReport(file)).trimEnd());
      }),
    );
}

function compareCommand(terminal: Terminal): Command {
  return new Command('compare')
    .description('reports beside each other: the cases that ended differently')
    .argument('<reports...>', 'two or more report.json')
    .addHelpText('after', '\nExample:\n  $ koppelvlak conformance compare verslag/report.json ander/report.json')
    .option('--json', 'one machine-readable result')
    .action((files: readonly string[], options: { json?: boolean }) =>
      runTool(terminal, options, async ({ output }) => {
        if (files.length < 2) throw new UsageError('name two reports or more');
        const { readReport } = await import('./commands/report-files.ts');
        const found = compareReports(await Promise.all(files.map(readReport)));
        output.result(found, () => output.line(differences(files, found) ?? 'No case ended differently.'));
      }),
    );
}
