/** Runs the cases of a suite in order, each once, and reports every outcome. */
import {
  type Chapter,
  type ConformanceCase,
  type Expectation,
  Failed,
  type Finding,
  Inconclusive,
  type Outcome,
  requireAvailable,
  Skipped,
  type SuiteSubject,
} from './case.ts';
import type { Ask, Exchange, ShownExchange } from './exchange.ts';
import { type RunLimit, unlessAborted } from './run-limit.ts';

export interface CaseResult {
  readonly id: string;
  readonly outcome: Outcome;
  /** Why it failed, was skipped or not judged, in one sentence; the observation, of a case that judges nothing. */
  readonly reason?: string;
  /** The last requests and answers; for a failed case, the last one shows the failure. */
  readonly exchanges: readonly ShownExchange[];
}

const SHOWN_EXCHANGES = 4;
/** Characters of a reason, which may quote the other side. */
const LONGEST_REASON = 1000;

interface RunOptions<Subject extends SuiteSubject> {
  readonly chapters: readonly Chapter<Subject>[];
  readonly subject: Subject;
  readonly isWanted: (id: string) => boolean;
  readonly signal: AbortSignal;
  /** Cases that depend on it are inconclusive. */
  readonly limit?: RunLimit | undefined;
  readonly onResult?: (result: CaseResult) => void;
}

/**
 * Prerequisites run even when not selected; the result has only selected cases.
 * @throws the signal's reason
 */
export async function runSuite<Subject extends SuiteSubject>(
  options: RunOptions<Subject>,
): Promise<readonly CaseResult[]> {
  const { chapters, subject, isWanted, signal, limit, onResult } = options;
  const cases = new Map(chapters.flatMap((chapter) => chapter.cases.map((one) => [one.id, one] as const)));
  const results = new Map<string, CaseResult>();
  const ending = limit === undefined ? signal : AbortSignal.any([signal, limit.signal]);

  const resultOf = async (one: ConformanceCase<Subject>): Promise<CaseResult> => {
    const result = results.get(one.id) ?? (await judged(one));
    results.set(one.id, result);
    return result;
  };

  const judged = async (one: ConformanceCase<Subject>): Promise<CaseResult> => {
    if (limit?.signal.aborted) return unreached(one, limit);
    for (const id of one.dependsOn ?? []) {
      const other = cases.get(id);
      if (other === undefined) throw new TypeError(`${one.id} depends on ${id}, which does not exist`);
      const { outcome, reason = outcome } = await resultOf(other);
      if (outcome === 'passed') continue;
      // A feature that is not offered cannot be wrong either.
      const own = outcome === 'skipped' ? 'skipped' : 'not-judged';
      return { id: one.id, outcome: own, reason: `${id}: ${reason}`, exchanges: [] };
    }
    try {
      // A case may wait for something other than an answer.
      return await unlessAborted(ending, runCase(one, subject, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (limit?.signal.aborted) return unreached(one, limit);
      throw error;
    }
  };

  const wanted = [...cases.values()].filter(({ id }) => isWanted(id));
  for (const one of wanted) {
    const result = await resultOf(one);
    onResult?.(result);
  }
  return wanted.flatMap(({ id }) => results.get(id) ?? []);
}

function unreached({ id }: Pick<CaseResult, 'id'>, { reason }: RunLimit): CaseResult {
  return { id, outcome: 'inconclusive', reason, exchanges: [] };
}

async function runCase<Subject extends SuiteSubject>(
  one: ConformanceCase<Subject>,
  subject: Subject,
  signal: AbortSignal,
): Promise<CaseResult> {
  const { show } = subject.client;
  const exchanges: ShownExchange[] = [];
  const ask = async (request: Ask): Promise<Exchange> => {
    const exchange = await subject.client.send({ ...request, to: filled(request.to, subject) });
    exchanges.push(show(exchange));
    if (exchanges.length > SHOWN_EXCHANGES) exchanges.shift();
    return exchange;
  };
  const ended = (finding: Finding): CaseResult => {
    if (finding === undefined) return { id: one.id, outcome: 'passed', exchanges };
    if (typeof finding === 'string') return ended({ failed: finding });
    if ('seen' in finding) return { id: one.id, outcome: 'passed', reason: finding.seen, exchanges };
    if ('skipped' in finding) return { id: one.id, outcome: 'skipped', reason: finding.skipped, exchanges };
    const { at } = finding;
    const reason = finding.failed.slice(0, LONGEST_REASON);
    const last = at === undefined ? [] : [isWhole(at) ? show(at) : at];
    return { id: one.id, outcome: 'failed', reason, exchanges: [...exchanges, ...last].slice(-SHOWN_EXCHANGES) };
  };
  try {
    const answers: Exchange[] = [];
    for (const wanted of one.ask ?? []) {
      const answer = await ask(typeof wanted === 'function' ? await wanted(subject) : wanted);
      const failed = unexpected(answer, one.expect ?? {}, subject);
      if (failed !== undefined) return ended(failed);
      answers.push(answer);
    }
    return ended(await one.check?.(subject, { answers, ask }));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failed) return ended(error.message);
    if (error instanceof Skipped) return ended({ skipped: error.message });
    if (error instanceof Inconclusive) return { id: one.id, outcome: 'inconclusive', reason: error.message, exchanges };
    throw error;
  }
}

function isWhole(exchange: Exchange | ShownExchange): exchange is Exchange {
  return 'body' in exchange;
}

/** @throws {Skipped} when the subject does not offer what the address names */
function filled(address: string, { values }: SuiteSubject): string {
  if (!/\{\w+\}/.test(address)) return address;
  const whole = address.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Skipped(`nothing is known for ${name}`);
    return value;
  });
  // A feed's address may have parameters of its own.
  const [path = '', ...parameters] = whole.split('?');
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`;
}

/**
 * Why an answer is not as expected.
 * @throws {Inconclusive} when the service is unexpectedly unavailable
 */
function unexpected(answer: Exchange, expected: Expectation, { fault }: SuiteSubject): string | undefined {
  const { status = [200], mediaType, headers = {}, schema } = expected;
  if (!status.includes(answer.status)) {
    requireAvailable(answer);
    return `the answer has status ${answer.status} instead of ${status.join(' or ')}`;
  }
  const type = answer.headers['content-type'] ?? '';
  if (mediaType !== undefined && type.split(';')[0]?.trim().toLowerCase() !== mediaType)
    return `the answer has content type ${type || '(none)'} instead of ${mediaType}`;
  for (const [name, form] of Object.entries(headers)) {
    const value = answer.headers[name];
    if (value === undefined) return `the answer has no header ${name}`;
    if (!form.test(value)) return `the header ${name} has the value ${value.slice(0, 200)}`;
  }
  if (schema === undefined) return undefined;
  if (answer.json === undefined) return 'the body is not JSON';
  const wrong = fault(schema, answer.json);
  return wrong === undefined ? undefined : `the body does not match ${schema}: ${wrong}`;
}
