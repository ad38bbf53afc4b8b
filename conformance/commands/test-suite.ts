/** The common part of all suite commands: their options, and a run from the first request to the report. */
import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../src/lib/command-error.ts';
import { reasonOf } from '../../src/lib/log.ts';
import { table } from '../../src/lib/output.ts';
import { packageVersion } from '../../src/lib/package-version.ts';
import type { Terminal } from '../../src/lib/terminal.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { Suite, SuiteDescription, SuiteSubject } from '../case.ts';
import type { ClientNeeds } from '../client.ts';
import type { Client } from '../exchange.ts';
import { createMask, visible } from '../mask.ts';
import { makeReport, quoted } from '../report/report.ts';
import { longestRunMs, type RunLimit, startLimit, USUAL_RATE, unlessAborted } from '../run-limit.ts';
import { type CaseResult, runSuite } from '../run-suite.ts';
import { compareReports, differences } from './reports.ts';
import { exitAfter, exitSoon, watchProcess } from './run-end.ts';
import { PROGRAM, readText, runTool, type ToolContext } from './tool.ts';

export interface SuiteOptions {
  readonly only?: readonly string[];
  readonly not?: readonly string[];
  readonly list?: boolean;
  readonly strict?: boolean;
  readonly expectedFailures?: string;
  readonly rate: number;
  /** Minutes. */
  readonly limit?: number;
  readonly report?: string;
  readonly save?: string;
  readonly sign?: readonly string[];
  readonly baseline?: string;
  readonly json?: boolean;
  /** Names of the options that were typed; the others have defaults. */
  readonly typed: readonly string[];
}

const MOST_PER_SECOND = 100;
const MOST_MINUTES = 10_080;

export function suiteOptions(command: Command): Command {
  return command
    .option('--list', 'print the cases without running them')
    .option('--only <ids...>', 'only these cases or chapters, or those whose clause contains this text')
    .option('--not <ids...>', 'without these')
    .option('--strict', 'treat a failed should as a failed must')
    .option('--expected-failures <file>', 'file of ids that may fail, one per line')
    .option('--rate <number>', 'maximum number of requests per second', upTo(MOST_PER_SECOND), USUAL_RATE)
    .option('--limit <minutes>', 'stop the run after this time (default: as long as it may need)', upTo(MOST_MINUTES))
    .option('--report <directory>', 'write report.html, report.json and junit.xml to this directory')
    .option('--save <directory>', 'write every request and answer to this directory, complete except for secrets')
    .option('--sign <files...>', 'key and certificate chain (PEM) to sign a statement that goes with the report')
    .option('--baseline <file>', 'compare with an earlier report.json')
    .option('--json', 'one machine-readable result')
    .hook('preAction', (_, called) => {
      const names = called.options.map((option) => option.attributeName());
      called.setOptionValue(
        'typed',
        names.filter((name) => called.getOptionValueSource(name) !== 'default'),
      );
    });
}

function upTo(most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!(number > 0 && number <= most)) throw new InvalidArgumentError(`a number up to ${most}`);
    return number;
  };
}

/** @throws {UsageError} when it is not the address of a service */
export function requireAddress(url: string | undefined): string {
  if (url === undefined || !URL.canParse(url)) throw new UsageError('the address of the service is needed');
  return url;
}

/**
 * Runs a suite as requested. Status 1 means that a must case failed; anything that prevents the cases from running
 * gives status 2.
 */
export async function suiteCommand(
  terminal: Terminal,
  options: SuiteOptions,
  suiteOf: () => SuiteDescription | Promise<SuiteDescription>,
  run: (context: ToolContext) => Promise<void>,
): Promise<void> {
  const stopWatching = watchProcess();
  await runTool(terminal, options, async (context) => {
    using _ = exitAfter(context.interrupted, terminal);
    try {
      if (options.list) listCases(context, await suiteOf(), options);
      else await run(context);
    } catch (error) {
      throw new UsageError(createMask([])(reasonOf(error)));
    }
  });
  stopWatching();
  exitSoon(terminal);
}

interface SuiteRun<Subject extends SuiteSubject> {
  readonly suite: Suite<Subject>;
  /** As given; the report includes options that not every suite has, so none of them may be secret. */
  readonly options: SuiteOptions;
  /** Address of the subject, or the name of a program or file. */
  readonly tested: string;
  /** Words to type after the suite's name. Default: the subject. */
  readonly words?: readonly string[];
  readonly needs?: ClientNeeds;
  /** Cases that an option adds: when none of them can be judged, the run ends with status 2 and reports the rest. */
  readonly part?: SuiteDescription;
  /** Milliseconds that a person, a command or a slow aggregator may take, in addition to the requests. */
  readonly waitMs?: number;
  /**
   * Prepares the subject. If the run will write, it announces that first (`say`).
   * @throws {UsageError} when there is nothing to test
   */
  readonly open: (client: Client, say: (text: string) => void, isWanted: (id: string) => boolean) => Promise<Subject>;
}

/** For undoing changes, and for the time at which the run should have ended. */
const UNDO_MS = 60_000;
const LATE_UNDO_MS = 20_000;

/**
 * Runs a suite and reports.
 * @throws {UsageError} when the cases cannot be run
 */
export async function testSuite<Subject extends SuiteSubject>(
  context: ToolContext,
  { suite, options, tested, words = [tested], needs, part, waitMs = 0, open }: SuiteRun<Subject>,
): Promise<void> {
  const { output, interrupted, proxy, terminal } = context;
  const isWanted = selection(suite, options);
  if (!idsOf(suite).some(isWanted)) throw new UsageError('--only and --not leave no case');
  if (options.sign !== undefined && options.report === undefined)
    throw new UsageError('--sign needs --report: the statement is written beside the report');
  const { readReport, readSigner, reportText, writeReport } = await import('./report-files.ts');
  const expectedFailures = await readExpected(suite, options.expectedFailures);
  const baseline = options.baseline === undefined ? undefined : await readReport(options.baseline);
  if (baseline !== undefined && baseline.suite !== suite.name)
    throw new UsageError(`--baseline: ${options.baseline} is a report of another suite`);
  const signer = options.sign === undefined ? undefined : await readSigner(options.sign);
  const { createClient } = await import('../client.ts');
  const connect = (signal: AbortSignal, whole?: { save: string | undefined; limit: RunLimit }): Client =>
    createClient({ ...needs, subject: tested, rate: options.rate, signal, proxy, ...whole });
  const say = (text: string): void => output.progress(visible(text));
  const limit = startLimit(options.limit === undefined ? waitMs + longestRunMs(options.rate) : options.limit * 60_000);
  using _ = exitAfter(limit.signal, terminal);
  const ending = AbortSignal.any([interrupted, limit.signal]);
  const client = connect(interrupted, { save: options.save, limit });
  const started = systemClock.now();
  let subject: Subject | undefined;
  try {
    const name = client.mask(URL.parse(tested)?.host ?? tested);
    say(`testing ${name} …`);
    subject = await unlessAborted(ending, open(client, say, isWanted)).catch((error: unknown) => {
      throw limit.signal.aborted && !interrupted.aborted ? new UsageError(limit.reason) : error;
    });
    const results = await runSuite({
      chapters: suite.chapters,
      subject,
      isWanted,
      signal: interrupted,
      limit,
      onResult: ({ id, outcome }) => say(`${outcome.padEnd(12)} ${id}`),
    });
    const untested = whyUntested(suite, results);
    if (untested !== undefined) throw new UsageError(`${name} cannot be tested: ${client.mask(untested)}`);
    const report = makeReport({
      suite,
      version: packageVersion(),
      subject: tested,
      started,
      ended: systemClock.now(),
      results,
      expectedFailures,
      strict: options.strict ?? false,
      options: shownOptions(options),
      mask: client.mask,
      requests: client.exchanges.length + (subject.answered?.() ?? 0),
      canBeSent: subject.answered === undefined,
      again: (id) => commandLine([suite.name, ...words], options, id),
    });
    if (options.report !== undefined) await writeReport(report, options.report, signer);
    const changed = baseline && compareReports([baseline, report]);
    output.result({ ...report, ...(changed && { changed }) }, () => {
      output.line(reportText(report));
      if (changed !== undefined) output.line(differences(['then', 'now'], changed) ?? 'Nothing has changed since.');
    });
    if (!report.conforms) terminal.exitCode = 1;
    const unrun = part && whyUntested(part, results);
    if (unrun !== undefined) throw new UsageError(`${part?.name} cannot be tested: ${client.mask(unrun)}`);
  } finally {
    await client.close();
    const undoMs = ending.aborted ? LATE_UNDO_MS : UNDO_MS;
    if (subject?.undo !== undefined) await undo(subject.undo, undoMs, connect, say);
  }
}

/** Why none of the executed cases could be judged; undefined when one could, or none was executed. */
function whyUntested(suite: SuiteDescription, results: readonly CaseResult[]): string | undefined {
  const ids = idsOf(suite);
  const found = results.filter(({ id }) => ids.includes(id));
  if (found.some(({ outcome }) => outcome === 'passed' || outcome === 'failed')) return undefined;
  return found[0] && (found[0].reason ?? found[0].outcome);
}

function idsOf({ chapters }: SuiteDescription): readonly string[] {
  return chapters.flatMap(({ cases }) => cases.map(({ id }) => id));
}

async function undo(
  work: NonNullable<SuiteSubject['undo']>,
  ms: number,
  connect: (signal: AbortSignal) => Client,
  say: (text: string) => void,
): Promise<void> {
  const signal = AbortSignal.timeout(ms);
  const client = connect(signal);
  try {
    const left = await unlessAborted(signal, work({ client, signal }));
    if (left !== undefined) say(client.mask(left));
  } catch (error) {
    say(`not everything was undone: ${client.mask(reasonOf(error))}`);
  } finally {
    await client.close();
  }
}

/**
 * The selected cases.
 * @throws {UsageError} when an id selects nothing
 */
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

/**
 * The ids in a file; `#` starts a comment.
 * @throws {UsageError} also when the suite has no such case
 */
async function readExpected(suite: SuiteDescription, file: string | undefined): Promise<ReadonlySet<string>> {
  if (file === undefined) return new Set();
  const ids = (await readText(file)).split('\n').map((line) => line.replace(/#.*/, '').trim());
  const listed = new Set(ids.filter((id) => id !== ''));
  const known = idsOf(suite);
  const unknown = [...listed].filter((id) => !known.includes(id));
  if (unknown.length > 0) throw new UsageError(`${file}: ${suite.name} has no case ${unknown.join(', ')}`);
  return listed;
}

const OF_EVERY_SUITE: ReadonlySet<string> = new Set([
  ...suiteOptions(new Command()).options.map((option) => option.attributeName()),
  'typed',
]);

/** The suite's own options, each with its name as typed and the words that follow it. */
function ownOptions(options: object): readonly (readonly [name: string, words: readonly string[]])[] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    if (OF_EVERY_SUITE.has(name) || value === undefined) return [];
    const typed = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (value === true) return [[typed, []]];
    return [[typed, [value].flat().map((one) => (one instanceof Date ? one.toISOString() : String(one)))]];
  });
}

function shownOptions(options: SuiteOptions): Readonly<Record<string, unknown>> {
  const { only, not, strict, rate: perSecond } = options;
  return {
    ...Object.fromEntries(ownOptions(options).map(([name, words]) => [name, words.length === 0 || words.join(' ')])),
    rate: perSecond,
    ...(strict ? { strict } : {}),
    ...(only === undefined ? {} : { only: only.join(' ') }),
    ...(not === undefined ? {} : { not: not.join(' ') }),
  };
}

/** A shell command that reproduces a case. */
function commandLine(begin: readonly string[], options: SuiteOptions, id: string): string {
  const typed = Object.fromEntries(Object.entries(options).filter(([name]) => options.typed.includes(name)));
  const own = ownOptions(typed).flatMap(([name, words]) => [`--${name}`, ...words]);
  return [PROGRAM, ...begin, ...own, '--only', id, '--save', 'berichten/']
    .map((word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : quoted(word)))
    .join(' ');
}

function listCases({ output }: ToolContext, suite: SuiteDescription, options: SuiteOptions): void {
  const isWanted = selection(suite, options);
  const cases = suite.chapters.flatMap((chapter) => chapter.cases).filter(({ id }) => isWanted(id));
  const listed = cases.map(({ id, level, title, source }) => ({ id, level, title, source }));
  output.result(listed, () => {
    const rows = listed.map((one) => [one.id, one.level, `${one.source.document}, ${one.source.clause}`, one.title.en]);
    output.line(table(['case', 'level', 'source', 'title'], rows));
  });
}
