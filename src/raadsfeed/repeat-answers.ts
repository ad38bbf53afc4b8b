/**
 * The fast path of the feed: gives an answer again that was given before and still holds. Everything that is not the plain repetition
 * of a public GET (another form asked for, a limit reached, load to be shed, the end near) goes the ordinary way.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastPath } from '../http/fast-path.ts';
import type { RateCount, RateCounter } from '../http/rate-counter.ts';
import type { FeedState } from './feed-state.ts';
import { type AnswerStore, type Given, type GivenAnswer, stillGiven } from './pages/answer-store.ts';
import type { FeedRow } from './store/read-feed-row.ts';

export interface RepeatOptions {
  readonly state: FeedState;
  readonly answers: AnswerStore;
  /** Absent: nothing is limited. */
  readonly counter: RateCounter | undefined;
  /** The client's address as the framework would have it; `undefined`: let the framework find out. */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
  readonly observe: (route: string, status: number, seconds: number) => void;
  /** True while load is shed. */
  readonly isPressed: () => boolean;
  readonly stopping: AbortSignal;
  /** Address of the mount in a request: `/ori/v1`. */
  readonly prefix: string;
}

/** A request that is answered at the end of this turn of the event loop. */
interface Waiting {
  readonly given: Given;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly pass: () => void;
}

/**
 * What comes in one turn of the event loop is answered together when all of it was read: one answer right after another costs far
 * less than each in between the reading of two requests.
 */
export function createRepeater(options: RepeatOptions): FastPath {
  const { state, answers, counter, prefix, stopping } = options;

  const repeat = (given: Given, request: IncomingMessage, response: ServerResponse, feed: FeedRow): boolean => {
    const answer = stillGiven(given, request, feed);
    if (answer === undefined) return false;
    const count = countCall(request);
    if (count === 'refused') return false;
    const startedAt = performance.now();
    response.writeHead(answer.status, count === undefined ? answer.headers : withCount(answer, count));
    response.end(answer.body);
    const observe = (): void => options.observe(answer.route, answer.status, (performance.now() - startedAt) / 1000);
    // Nothing left to send: it is with the system already, and a listener would cost as much as the answer.
    if (response.writableLength === 0) observe();
    else response.once('finish', observe);
    return true;
  };

  const countCall = (request: IncomingMessage): RateCount | 'refused' | undefined => {
    if (counter === undefined) return undefined;
    const address = options.addressOf(request);
    if (address === undefined) return 'refused';
    const key = `address ${address}`;
    // The ordinary way counts the call that is one too many, and says so.
    return counter.hasRoom(key) ? counter.hit(key) : 'refused';
  };

  const withCount = ({ headers, remainingAt, resetAt }: GivenAnswer, { current, ttl }: RateCount): string[] => {
    const patched = [...headers];
    if (remainingAt !== -1) patched[remainingAt] = String(Math.max(0, (counter?.max ?? 0) - current));
    if (resetAt !== -1) patched[resetAt] = String(Math.ceil(ttl / 1000));
    return patched;
  };

  let waiting: Waiting[] = [];
  const repeatAll = (due: readonly Waiting[], feed: FeedRow): void => {
    for (const { given, request, response, pass } of due) {
      if (!response.destroyed && !repeat(given, request, response, feed)) pass();
    }
  };
  const endTurn = (): void => {
    const due = waiting;
    waiting = [];
    const present = state.present();
    if (present !== undefined) repeatAll(due, present);
    else
      state.current().then(
        (feed) => repeatAll(due, feed),
        () => {
          // The ordinary way meets the same fault, and tells it.
          for (const { pass } of due) pass();
        },
      );
  };

  return (request, response, pass) => {
    if (!isPlain(request, prefix) || stopping.aborted || options.isPressed()) return false;
    const given = answers.find(request);
    if (given === undefined) return false;
    if (waiting.length === 0) setImmediate(endTurn);
    waiting.push({ given, request, response, pass });
    return true;
  };
}

/** A GET without a body that takes JSON. */
function isPlain({ method, url = '', headers }: IncomingMessage, prefix: string): boolean {
  if (method !== 'GET' || !url.startsWith(prefix)) return false;
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  if (headers.expect !== undefined || headers.upgrade !== undefined) return false;
  const { accept } = headers;
  return accept === undefined || accept === 'application/json' || (accept.includes('*/*') && !/q=/i.test(accept));
}
