/** What a suite consists of: cases, each with the sentence of a standard that it tests, and the ways in which one can end. */
import type { Ask, Client, Exchange, ShownExchange } from './exchange.ts';

/**
 * `must`: the source demands it. `should`: the source recommends it. `may`: right if offered, or a rule that only our own contract has.
 * `open`: the source is silent; the behaviour is reported, and not judged.
 */
export const LEVELS = ['must', 'should', 'may', 'open'] as const;
export type Level = (typeof LEVELS)[number];

/** `not-judged`: another case on which it depends did not pass. `inconclusive`: no usable answer came, such as 503 after waiting. */
export const OUTCOMES = ['failed', 'inconclusive', 'not-judged', 'skipped', 'passed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The sentence that a case tests. */
export interface Clause {
  readonly document: string;
  readonly clause: string;
  /** A few words of it. */
  readonly quote: string;
}

/** What an answer must be; all of it. */
export interface Expectation {
  readonly status?: readonly number[];
  /** Without its parameters, such as `application/json`. */
  readonly mediaType?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, RegExp>>;
  /** Name of a schema of the contract. */
  readonly schema?: string;
}

/**
 * What a function of a case found; nothing: it passed; a text: why it failed. `at` is the answer that shows it, where the case did not ask
 * for it itself. `seen` is for cases that are `open`.
 */
export type Finding =
  | undefined
  | string
  | { readonly failed: string; readonly at?: Exchange | ShownExchange | undefined }
  | { readonly skipped: string }
  | { readonly seen: string };

/** What a case is about. */
export interface CaseDescription {
  /** Never changes, and is never used again: `C-FEED-03`. */
  readonly id: string;
  readonly title: { readonly nl: string; readonly en: string };
  readonly level: Level;
  readonly source: Clause;
  /** Cases that must have passed before this one means anything. */
  readonly dependsOn?: readonly string[];
}

export interface ConformanceCase<Subject extends SuiteSubject> extends CaseDescription {
  /**
   * Each is sent, and each answer must be as expected; `{name}` in an address is a value of the subject, without which it is skipped. A
   * function makes a request of what only the run knows, such as a signature.
   */
  readonly ask?: readonly (Ask | ((subject: Subject) => Ask | Promise<Ask>))[];
  readonly expect?: Expectation;
  /** What data cannot say. */
  readonly check?: (subject: Subject, run: CaseRun) => Finding | Promise<Finding>;
}

/** What a case works with. */
export interface CaseRun {
  /** The answers to `ask`, in order. */
  readonly answers: readonly Exchange[];
  /** Sends another request, which is shown with the case. @throws {Inconclusive} {Skipped} */
  readonly ask: (ask: Ask) => Promise<Exchange>;
}

/** What is tested. */
export interface SuiteSubject {
  /** Its values, for addresses; those that it does not offer are absent. */
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Why a value does not fit a schema of the contract; undefined: it does. @throws {TypeError} when there is no such schema */
  readonly fault: (schema: string, value: unknown) => string | undefined;
  readonly client: Client;
  /** How many requests the suite answered, where it plays the other side. */
  readonly answered?: () => number;
  /**
   * Undoes what the run wrote, as far as the interface lets it; after an interruption too, so with a client and a signal of its own.
   * @returns what could not be undone, in a sentence
   */
  readonly undo?: (undoing: Undoing) => Promise<string | undefined>;
}

export interface Undoing {
  readonly client: Client;
  readonly signal: AbortSignal;
}

interface Chaptered<Case> {
  /** What the ids of its cases begin with: `C-FEED`. */
  readonly id: string;
  readonly title: { readonly nl: string; readonly en: string };
  readonly cases: readonly Case[];
}

export type Chapter<Subject extends SuiteSubject> = Chaptered<ConformanceCase<Subject>>;

/** The cases for one kind of implementation, as they are listed. */
export interface SuiteDescription {
  /** As the command calls it. */
  readonly name: string;
  readonly title: { readonly nl: string; readonly en: string };
  readonly chapters: readonly Chaptered<CaseDescription>[];
}

export interface Suite<Subject extends SuiteSubject> extends SuiteDescription {
  readonly chapters: readonly Chapter<Subject>[];
}

/** No usable answer came. */
export class Inconclusive extends Error {
  readonly code = 'inconclusive';
}

/** Statuses of a service that is too busy, and of a gateway before one that is away: they say nothing of how it answers. */
const UNAVAILABLE = [429, 502, 503, 504];

/** @throws {Inconclusive} when an answer says nothing of the service; one that fails (500) has answered wrongly */
export function requireAvailable({ status }: Pick<Exchange, 'status'>): void {
  if (UNAVAILABLE.includes(status)) throw new Inconclusive(`status ${status}`);
}

/** It is not offered. */
export class Skipped extends Error {
  readonly code = 'skipped';
}

/** What was expected did not come: the case fails, for this reason. */
export class Failed extends Error {
  readonly code: string = 'failed';
}

/** The sentence that a case tests, under its level. */
export type Grade = {
  [Own in Level]: Readonly<Record<Own, Clause>> & Readonly<Partial<Record<Exclude<Level, Own>, undefined>>>;
}[Level];

/** What is written down of every case under its id. */
interface Texts {
  readonly nl: string;
  readonly en: string;
  /** Cases that must have passed before; default the first of the suite. */
  readonly needs?: readonly string[];
}
export type Written = Texts & Grade;

/** A case that is one function. */
export type WrittenCase<Tested> = Written & {
  readonly test: (tested: Tested) => Finding | Promise<Finding>;
};

/** What a case does that sends requests that are data. */
export type Asking<Subject extends SuiteSubject> = Pick<Written, 'needs'> &
  Pick<ConformanceCase<Subject>, 'ask' | 'expect' | 'check'>;

/** Makes a chapter of cases that are written down by id. */
type MakeChapter<Subject extends SuiteSubject, Case> = (
  id: string,
  title: readonly [nl: string, en: string],
  cases: Readonly<Record<string, Case>>,
) => Chapter<Subject>;

/** Of cases that are one function. @param open the subject as one case works with it @param first as `described` has it */
export function writtenChapters<Subject extends SuiteSubject, Tested>(
  open: (subject: Subject, run: CaseRun) => Tested,
  first: string,
): MakeChapter<Subject, WrittenCase<Tested>> {
  return (id, [nl, en], cases) => ({
    ...{ id, title: { nl, en } },
    cases: Object.entries(cases).map(([caseId, { test, ...written }]) => ({
      ...described(caseId, written, first),
      check: (subject, run) => test(open(subject, run)),
    })),
  });
}

/** Of cases that send requests that are data. */
export function askingChapters<Subject extends SuiteSubject>(
  first: string,
): MakeChapter<Subject, Written & Asking<Subject>> {
  return (id, [nl, en], cases) => ({
    ...{ id, title: { nl, en } },
    cases: Object.entries(cases).map(([caseId, written]) => described(caseId, written, first)),
  });
}

/** @param first the case that the others need unless they name another */
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

/** Where a busy service did not say when to come back. */
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

/** A JWT with another signature. @throws {Skipped} when the token is not a JWT */
export function forged(token: string): string {
  if (token.split('.').length !== 3) throw new Skipped('the token is not a JWT');
  return `${token.slice(0, -8)}${token.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`;
}

/** Where it failed; for a list of which each element must hold. */
export function firstFault<Item>(
  items: Iterable<Item>,
  judge: (item: Item) => string | undefined,
  at?: (item: Item) => Exchange | ShownExchange | undefined,
): Finding {
  for (const item of items) {
    const failed = judge(item);
    if (failed !== undefined) return { failed, at: at?.(item) };
  }
  return undefined;
}
