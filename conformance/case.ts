/** The parts of a suite: cases, each testing a sentence of a standard, and their possible outcomes. */
import type { Ask, Client, Exchange, ShownExchange } from './exchange.ts';

/**
 * `must`: the source requires it. `should`: the source recommends it. `may`: must be right if offered, or is a rule of
 * our own contract only. `open`: the source is silent, so the behaviour is reported but not judged.
 */
export const LEVELS = ['must', 'should', 'may', 'open'] as const;
export type Level = (typeof LEVELS)[number];

/**
 * `not-judged`: a case it depends on did not pass. `inconclusive`: there was no usable answer, such as 503 after
 * waiting.
 */
export const OUTCOMES = ['failed', 'inconclusive', 'not-judged', 'skipped', 'passed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Clause {
  readonly document: string;
  readonly clause: string;
  readonly quote: string;
}

/** Requirements on an answer, all of which must hold. */
export interface Expectation {
  readonly status?: readonly number[];
  /** Without parameters, such as `application/json`. */
  readonly mediaType?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, RegExp>>;
  readonly schema?: string;
}

/**
 * The finding of a case's function: nothing when it passed, a text saying why it failed. `at` is the answer that shows
 * it, unless the case requested that itself. `seen` is for `open` cases.
 */
export type Finding =
  | undefined
  | string
  | { readonly failed: string; readonly at?: Shown }
  | { readonly skipped: string }
  | { readonly seen: string };
type Shown = Exchange | ShownExchange | undefined;

export interface CaseDescription {
  /** Never changed or reused: `C-FEED-03`. */
  readonly id: string;
  readonly title: { readonly nl: string; readonly en: string };
  readonly level: Level;
  readonly source: Clause;
  /** Cases without which this one means nothing unless they passed. */
  readonly dependsOn?: readonly string[];
}

export interface ConformanceCase<Subject extends SuiteSubject> extends CaseDescription {
  /**
   * Each is sent and its answer compared with `expect`; `{name}` in an address stands for a value of the subject, and
   * without that value the case is skipped. A function makes a request from what only the run knows, such as a
   * signature.
   */
  readonly ask?: readonly (Ask | ((subject: Subject) => Ask | Promise<Ask>))[];
  readonly expect?: Expectation;
  /** Checks that data cannot express. */
  readonly check?: (subject: Subject, run: CaseRun) => Finding | Promise<Finding>;
}

export interface CaseRun {
  /** The answers to `ask`, in order. */
  readonly answers: readonly Exchange[];
  /**
   * Sends another request, which is shown with the case.
   * @throws {Inconclusive} {Skipped}
   */
  readonly ask: (ask: Ask) => Promise<Exchange>;
}

export interface SuiteSubject {
  /** Its values, for addresses; values that it does not offer are absent. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /**
   * Why a value does not match a schema of the contract; undefined when it does.
   * @throws {TypeError} when there is no such schema
   */
  readonly fault: (schema: string, value: unknown) => string | undefined;
  readonly client: Client;
  /** Number of requests that the suite answered, when it plays the other side. */
  readonly answered?: () => number;
  /**
   * Undoes the run's changes as far as the interface allows; also after an interruption, so with its own client and
   * signal.
   * @returns what could not be undone, in a sentence
   */
  readonly undo?: (undoing: Undoing) => Promise<string | undefined>;
}

export interface Undoing {
  readonly client: Client;
  readonly signal: AbortSignal;
}

export interface Chapter<Subject extends SuiteSubject> {
  /** Prefix of its case ids: `C-FEED`. */
  readonly id: string;
  readonly title: { readonly nl: string; readonly en: string };
  readonly cases: readonly ConformanceCase<Subject>[];
}

/** The cases for one kind of implementation, in listing order. */
export interface Suite<Subject extends SuiteSubject> {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: { readonly nl: string; readonly en: string };
  readonly chapters: readonly Chapter<Subject>[];
}

/** A suite whose cases are described, not run. */
export type SuiteDescription = Suite<never>;

/** There was no usable answer. */
export class Inconclusive extends Error {}

/** Statuses of a busy service or of a gateway whose service is down: they say nothing about its answers. */
const UNAVAILABLE = [429, 502, 503, 504];

/** @throws {Inconclusive} when an answer says nothing about the service; a failing one (500) is a wrong answer */
export function requireAvailable({ status }: Pick<Exchange, 'status'>): void {
  if (UNAVAILABLE.includes(status)) throw new Inconclusive(`status ${status}`);
}

/** The implementation does not offer it. */
export class Skipped extends Error {}

/** The expected answer did not come; the message says why the case fails. */
export class Failed extends Error {}

export type Grade = {
  [Own in Level]: Readonly<Record<Own, Clause>> & Readonly<Partial<Record<Exclude<Level, Own>, undefined>>>;
}[Level];

export type Written = Grade & {
  readonly nl: string;
  readonly en: string;
  /** Prerequisite cases; by default the first of the suite. */
  readonly needs?: readonly string[];
};

export type WrittenCase<Tested> = Written & {
  readonly test: (tested: Tested) => Finding | Promise<Finding>;
};

/** A case whose requests are data. */
export type Asking<Subject extends SuiteSubject> = Pick<Written, 'needs'> &
  Pick<ConformanceCase<Subject>, 'ask' | 'expect' | 'check'>;

/** Makes chapters from case descriptions by id. */
export function chaptersOf<Case, Made>(make: (id: string, one: Case) => Made) {
  return (id: string, [nl, en]: readonly [nl: string, en: string], cases: Readonly<Record<string, Case>>) => ({
    id,
    title: { nl, en },
    cases: Object.entries(cases).map(([caseId, one]) => make(caseId, one)),
  });
}

/** Chapters of cases that are a single function. @param open gives one case its view of the subject @param first as for `described` */
export function writtenChapters<Subject extends SuiteSubject, Tested>(
  open: (subject: Subject, run: CaseRun) => Tested,
  first: string,
) {
  return chaptersOf((id, { test, ...written }: WrittenCase<Tested>) => ({
    ...described(id, written, first),
    check: (subject: Subject, run: CaseRun) => test(open(subject, run)),
  }));
}

/** Chapters of cases whose requests are data. */
export function askingChapters<Subject extends SuiteSubject>(first: string) {
  return chaptersOf((id, written: Written & Asking<Subject>) => described(id, written, first));
}

/** @param first the prerequisite of cases that name none */
export function described<Rest extends object>(id: string, written: Written & Rest, first: string) {
  const { nl, en, needs = id === first ? [] : [first], must, should, may, open, ...rest } = written;
  const [level, source] = gradeOf({ must, should, may, open });
  return { id, title: { nl, en }, level, source, dependsOn: needs, ...rest };
}

function gradeOf(sources: Readonly<Record<Level, Clause | undefined>>): readonly [Level, Clause] {
  for (const level of LEVELS) {
    const source = sources[level];
    if (source !== undefined) return [level, source];
  }
  throw new TypeError('a case has no source');
}

/** The answer, if there is one; the cases that request it report a missing one. */
export async function answerIfAny(client: Client, ask: Ask): Promise<Exchange | undefined> {
  try {
    return await client.send(ask);
  } catch (error) {
    if (error instanceof Inconclusive || error instanceof Skipped) return undefined;
    throw error;
  }
}

/** An answer of a busy service without a time to retry. */
export function busyWithoutRetryAfter({ exchanges }: Client): Finding {
  const busy = exchanges.filter(({ status }) => status === 429 || status === 503);
  const without = busy.find(({ headers }) => headers['retry-after'] === undefined);
  if (busy.length === 0) return { skipped: 'no answer was 429 or 503' };
  return without && { failed: `a ${without.status} has no \`Retry-After\``, at: without };
}

/** A 401 that does not say how to authenticate. */
export function unchallenged({ exchanges }: Client): Finding {
  const at = exchanges.find(({ status, headers }) => status === 401 && headers['www-authenticate'] === undefined);
  return at && { failed: 'a 401 has no WWW-Authenticate', at };
}

/**
 * A JWT with an invalid signature.
 * @throws {Skipped} when the token is not a JWT
 */
export function forged(token: string): string {
  if (token.split('.').length !== 3) throw new Skipped('the token is not a JWT');
  return `${token.slice(0, -8)}${token.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`;
}

/** The faulty answer, when each of several must hold. */
export function firstFault<Item>(
  items: Iterable<Item>,
  at: Shown | ((item: Item) => Shown),
  judge: (item: Item, index: number) => string | undefined,
): Finding {
  for (const [index, item] of [...items].entries()) {
    const failed = judge(item, index);
    if (failed !== undefined) return { failed, at: typeof at === 'function' ? at(item) : at };
  }
  return undefined;
}

/** The first wrong one of several answers. */
export function firstFaulty(answers: readonly Exchange[], judge: (answer: Exchange, i: number) => string | undefined) {
  return firstFault(answers, (answer) => answer, judge);
}
