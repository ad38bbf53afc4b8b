/**
 * The report of a run as data: the subject, the outcome of every case, and the evidence. Its form is stable:
 * `openapi/conformance-report.json`.
 */
import { type CaseDescription, type Chapter, LEVELS, OUTCOMES, type Outcome, type SuiteDescription } from '../case.ts';
import type { ShownExchange } from '../exchange.ts';
import { type Mask, maskedHeaders } from '../mask.ts';
import type { CaseResult } from '../run-suite.ts';

/** A request and its answer as shown: secrets and personal numbers masked, bodies truncated. */
interface ReportedExchange {
  readonly request: string;
  readonly sent: Readonly<Record<string, string>>;
  readonly sentBody?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ReportedCase extends Pick<CaseDescription, 'id' | 'level' | 'source'> {
  readonly chapter: string;
  readonly chapterTitle: string;
  readonly title: string;
  readonly outcome: Outcome;
  readonly reason?: string;
  /** The failure was announced. */
  readonly expected?: true;
  readonly exchanges: readonly ReportedExchange[];
  readonly again?: string;
}

export interface ConformanceReport {
  readonly suite: string;
  readonly version: string;
  readonly subject: string;
  readonly started: string;
  readonly ended: string;
  readonly requests: number;
  readonly options: Readonly<Record<string, unknown>>;
  /** By outcome. */
  readonly counts: Readonly<Record<string, number>>;
  /** No must case failed, apart from announced ones. With `--strict`, no should case either. */
  readonly conforms: boolean;
  /** Cases that passed although their failure was announced. */
  readonly expectedButPassed?: readonly string[];
  readonly cases: readonly ReportedCase[];
}

interface ReportOptions extends Pick<ConformanceReport, 'version' | 'subject' | 'requests' | 'options'> {
  readonly suite: SuiteDescription;
  readonly started: Date;
  readonly ended: Date;
  readonly strict: boolean;
  readonly expectedFailures: ReadonlySet<string>;
  readonly results: readonly CaseResult[];
  readonly mask: Mask;
  /** The requests can be repeated with `curl`; not when the suite itself answered, because then it is gone. */
  readonly canBeSent: boolean;
  /** The command that reproduces a case, when `curl` is not enough. */
  readonly again: (id: string) => string;
}

const SHOWN_HEADER = 500;
/** Longest request shown as a shell command; a longer one is reproduced by running its case again. */
const LONGEST_CURL = 2000;

export function makeReport(options: ReportOptions): ConformanceReport {
  const { suite, version, subject, results, strict, expectedFailures, mask, canBeSent } = options;
  const ended = new Map(results.map((result) => [result.id, result]));
  const caseOf = (chapter: Chapter<never>, { id, title, level, source }: CaseDescription): readonly ReportedCase[] => {
    const result = ended.get(id);
    if (result === undefined) return [];
    const { outcome, reason, exchanges } = result;
    const last = exchanges.at(-1);
    return [
      {
        id,
        chapter: chapter.id,
        chapterTitle: chapter.title.en,
        title: title.en,
        level,
        source,
        outcome,
        ...(reason === undefined ? {} : { reason: mask(reason) }),
        ...(outcome === 'failed' && expectedFailures.has(id) ? { expected: true } : {}),
        exchanges: isWrong(result) || level === 'open' ? exchanges.map((one) => reported(one, mask)) : [],
        ...(isWrong(result) ? { again: (canBeSent && last && curl(last, mask)) || mask(options.again(id)) } : {}),
      },
    ];
  };
  const cases = suite.chapters.flatMap((chapter) => chapter.cases.flatMap((one) => caseOf(chapter, one)));
  const expectedButPassed = cases
    .filter(({ id, outcome }) => outcome === 'passed' && expectedFailures.has(id))
    .map(({ id }) => id);
  const judged: readonly string[] = strict ? ['must', 'should'] : ['must'];
  return {
    suite: suite.name,
    version,
    subject: mask(subject),
    requests: options.requests,
    options: Object.fromEntries(
      Object.entries(options.options).map(([name, value]) => [name, typeof value === 'string' ? mask(value) : value]),
    ),
    counts: Object.fromEntries(OUTCOMES.map((name) => [name, cases.filter(({ outcome }) => outcome === name).length])),
    cases,
    started: options.started.toISOString(),
    ended: options.ended.toISOString(),
    ...(expectedButPassed.length === 0 ? {} : { expectedButPassed }),
    conforms: !cases.some((one) => one.outcome === 'failed' && one.expected !== true && judged.includes(one.level)),
  };
}

export function isWrong({ outcome }: Pick<ReportedCase, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'inconclusive';
}

/** For each level, its name and the number of cases with each outcome. */
export function countsByLevel(cases: readonly ReportedCase[]): readonly (readonly string[])[] {
  return LEVELS.map((level) => [
    level,
    ...OUTCOMES.map((name) => String(cases.filter((one) => one.level === level && one.outcome === name).length)),
  ]);
}

/** Message about announced failures that pass now; undefined when there are none. */
export function noLongerFailing({ expectedButPassed = [] }: ConformanceReport): string | undefined {
  if (expectedButPassed.length === 0) return undefined;
  return `Announced as failures, but passed: ${expectedButPassed.join(', ')}. Remove them from the list.`;
}

/** A run's verdict on its subject, in a sentence or two. */
export function verdictOf({ cases, conforms }: ConformanceReport): string {
  const isAnnounced = cases.some(({ level, expected }) => level === 'must' && expected === true);
  const good = isAnnounced ? 'No must case failed except announced ones.' : 'No must case failed.';
  const unclear = cases.filter(({ outcome }) => outcome === 'inconclusive' || outcome === 'not-judged').length;
  const open = unclear === 0 ? '' : ` ${unclear} cases could not be judged.`;
  return `${conforms ? good : 'It does not conform to the interface.'}${open}`;
}

function reported(exchange: ShownExchange, mask: Mask): ReportedExchange {
  const { method, url, sent, sentText, status, headers, text } = exchange;
  return {
    request: `${method} ${mask(url)}`,
    sent: maskedHeaders(sent, mask, SHOWN_HEADER),
    status,
    ...(sentText === '' ? {} : { sentBody: mask(sentText) }),
    headers: maskedHeaders(headers, mask, SHOWN_HEADER),
    body: mask(text),
  };
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The request as a shell command; undefined when it contains a secret or is too long. */
function curl({ method, url, sent, sentText }: ShownExchange, mask: Mask): string | undefined {
  const shown = maskedHeaders(sent, mask);
  const headers = Object.entries(shown).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const how = method === 'HEAD' ? ['-I'] : method === 'GET' ? ['-i'] : ['-i', '-X', method];
  const body = sentText === '' ? [] : ['--data-raw', quoted(sentText)];
  const command = ['curl', ...how, ...headers, ...body, quoted(url)].join(' ');
  const isWhole = mask(command) === command && Object.entries(sent).every(([name, value]) => shown[name] === value);
  return isWhole && command.length <= LONGEST_CURL ? command : undefined;
}
