/** The report of a run as data: what was tested, how each case ended, and what shows it. Its form is stable: `openapi/conformance-report.json`. */
import type { Chapter, Clause, Level, Outcome, SuiteSubject } from '../case.ts';
import type { ShownExchange } from '../client.ts';
import type { CaseResult } from '../run-suite.ts';

/** A request and its answer as they are shown: secrets and numbers of persons masked, bodies cut. */
interface ReportedExchange {
  readonly request: string;
  readonly sent: Readonly<Record<string, string>>;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ReportedCase {
  readonly id: string;
  readonly chapter: string;
  readonly chapterTitle: string;
  readonly title: string;
  readonly level: Level;
  readonly source: Clause;
  readonly outcome: Outcome;
  readonly reason?: string;
  /** The failure was announced. */
  readonly expected?: true;
  readonly exchanges: readonly ReportedExchange[];
  /** A command that shows it again. */
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
  readonly counts: Readonly<Record<Outcome, number>>;
  /** No must failed, apart from those that were announced. With `--strict` no should either. */
  readonly conforms: boolean;
  readonly cases: readonly ReportedCase[];
}

interface ReportOptions<Subject extends SuiteSubject> {
  readonly suite: string;
  readonly version: string;
  readonly subject: string;
  readonly started: Date;
  readonly ended: Date;
  readonly requests: number;
  readonly options: Readonly<Record<string, unknown>>;
  readonly strict: boolean;
  readonly expectedFailures: ReadonlySet<string>;
  readonly chapters: readonly Chapter<Subject>[];
  readonly results: readonly CaseResult[];
}

const SHOWN_HEADER = 500;
/** Control characters but tab and line feed. */
const CONTROL = /[^\P{Cc}\t\n]/gu;
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'www-authenticate']);

export function makeReport<Subject extends SuiteSubject>(options: ReportOptions<Subject>): ConformanceReport {
  const { suite, version, subject, chapters, results, strict, expectedFailures } = options;
  const known = new Map(chapters.flatMap((chapter) => chapter.cases.map((one) => [one.id, { chapter, one }] as const)));
  const cases = results.flatMap((result): ReportedCase[] => {
    const found = known.get(result.id);
    if (found === undefined) return [];
    const { title, level, source } = found.one;
    const last = result.exchanges.at(-1);
    const isWrong = result.outcome === 'failed' || result.outcome === 'inconclusive';
    return [
      {
        ...{
          id: result.id,
          chapter: found.chapter.id,
          chapterTitle: found.chapter.title.en,
          title: title.en,
          level,
          source,
          outcome: result.outcome,
        },
        ...(result.reason === undefined ? {} : { reason: masked(result.reason) }),
        ...(result.outcome === 'failed' && expectedFailures.has(result.id) ? { expected: true } : {}),
        exchanges: isWrong || level === 'open' ? result.exchanges.map(reported) : [],
        ...(isWrong && last !== undefined ? { again: curl(last) } : {}),
      },
    ];
  });
  const count = (outcome: Outcome): number => cases.filter((one) => one.outcome === outcome).length;
  const counts = {
    failed: count('failed'),
    inconclusive: count('inconclusive'),
    'not-judged': count('not-judged'),
    skipped: count('skipped'),
    passed: count('passed'),
  };
  const judged: readonly Level[] = strict ? ['must', 'should'] : ['must'];
  return {
    ...{
      suite,
      version,
      subject: masked(subject),
      requests: options.requests,
      options: options.options,
      counts,
      cases,
    },
    started: options.started.toISOString(),
    ended: options.ended.toISOString(),
    conforms: !cases.some((one) => one.outcome === 'failed' && one.expected !== true && judged.includes(one.level)),
  };
}

/** What a run says of its subject, in a sentence. */
export function verdictOf({ cases, conforms }: ConformanceReport): string {
  const unclear = cases.filter(({ outcome }) => outcome === 'inconclusive' || outcome === 'not-judged').length;
  const open = unclear === 0 ? '' : ` ${unclear} cases could not be judged.`;
  return `${conforms ? 'No must failed.' : 'It does not keep to the interface.'}${open}`;
}

function reported({ method, url, sent, status, headers, text }: ShownExchange): ReportedExchange {
  return {
    ...{ request: `${method} ${masked(url)}`, sent: shownHeaders(sent), status },
    ...{ headers: shownHeaders(headers), body: masked(text) },
  };
}

function shownHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_HEADERS.has(name.toLowerCase()) ? '(masked)' : masked(value.slice(0, SHOWN_HEADER)),
    ]),
  );
}

/** Without passwords in addresses, tokens, numbers that may be a BSN, and what would steer a terminal. */
function masked(text: string): string {
  return text
    .replaceAll(CONTROL, '\ufffd')
    .replaceAll(/(\/\/)[^/@\s]+@/g, '$1(masked)@')
    .replaceAll(/([?&](?:access_token|token|client_secret|password|rid|key)=)[^&\s"]+/gi, '$1(masked)')
    .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '(masked)')
    .replaceAll(/(?<!\d)\d{9}(?!\d)/g, (digits) => (mayBeBsn(digits) ? '(masked)' : digits));
}

/** Whether nine digits pass the test of a citizen service number. */
function mayBeBsn(digits: string): boolean {
  const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (i === 8 ? -1 : 9 - i), 0);
  return sum % 11 === 0;
}

/** The request for a shell, without its secrets. */
function curl({ method, url, sent }: ShownExchange): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const headers = Object.entries(shownHeaders(sent)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return ['curl', method === 'HEAD' ? '-I' : '-i', ...headers, quoted(masked(url))].join(' ');
}
