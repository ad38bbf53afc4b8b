/**
 * Answers that were given and are still true: the very same request gets the very same answer, without the way through the framework.
 * An answer holds for one row of the feed (its head, what was redacted), and all go when that row changes.
 */
import type { IncomingMessage } from 'node:http';
import type { FeedRow } from '../store/read-feed-row.ts';
import { createSizedCache } from './sized-cache.ts';

/** A complete answer, as it went out. */
export interface GivenAnswer {
  readonly status: 200 | 304;
  /** Names and values in turn, in the order in which they went out. */
  readonly headers: string[];
  readonly body: Buffer | undefined;
  /** Pattern of the route, for measuring. */
  readonly route: string;
  /** Where in `headers` the values stand that the limit gives each call anew; -1: nowhere. */
  readonly remainingAt: number;
  readonly resetAt: number;
}

/** What was answered to one address in one encoding. */
export interface Given {
  /** The row of the feed under which it was. */
  readonly feed: FeedRow;
  readonly etag: string;
  ok?: GivenAnswer;
  notModified?: GivenAnswer;
}

export interface AnswerStore {
  /** What was given to this address, of whatever row. */
  find(request: IncomingMessage): Given | undefined;
  keep(request: IncomingMessage, feed: FeedRow, etag: string, answer: GivenAnswer): void;
  readonly bytes: () => number;
}

/** The answer to exactly this request, when one was given under this row of the feed. */
export function stillGiven(given: Given, request: IncomingMessage, feed: FeedRow): GivenAnswer | undefined {
  if (given.feed !== feed) return undefined;
  const tag = request.headers['if-none-match'];
  if (tag === undefined) return given.ok;
  return tag === given.etag ? given.notModified : undefined;
}

export function createAnswerStore(
  maxBytes: number,
  chooseEncoding: (accept: string | undefined) => string,
): AnswerStore {
  const answers = createSizedCache<Given>(maxBytes);
  let present: FeedRow | undefined;
  const keyOf = ({ url = '', headers }: IncomingMessage): string =>
    `${chooseEncoding(headers['accept-encoding']?.toString())} ${url}`;
  return {
    find: (request) => answers.get(keyOf(request)),
    keep(request, feed, etag, answer) {
      if (feed !== present) {
        answers.clear();
        present = feed;
      }
      const key = keyOf(request);
      let given = answers.get(key);
      if (given?.etag !== etag) {
        given = { feed, etag };
        answers.set(key, given, etag.length);
      }
      const isNew = (answer.status === 200 ? given.ok : given.notModified) === undefined;
      if (answer.status === 200) given.ok = answer;
      else given.notModified = answer;
      const headerBytes = answer.headers.reduce((sum, text) => sum + text.length, 0);
      if (isNew) answers.grow(key, given, (answer.body?.length ?? 0) + headerBytes);
    },
    bytes: answers.bytes,
  };
}
