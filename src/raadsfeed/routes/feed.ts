/**
 * `GET /feed`, the log after a position; and what it shares with the lists and the stream: queries, addresses of pages, and cursors. Cursors are opaque
 * to clients and belong to one feed. A position is a number with the epoch of its record: after a restored backup a number may be issued again, with
 * another epoch.
 */
import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import { Problem } from '../../lib/problem.ts';
import type { Contract } from '../../plugins/contract.ts';
import type { Feed } from '../app-feed.ts';
import type { FeedStateCache } from '../feed/state-cache.ts';
import { raadsfeedProblems } from '../problems.ts';
import {
  type FeedPosition,
  type FeedState,
  filterParameters,
  joinRecord,
  MissingNumberError,
  type RecordFilter,
  readAfter,
  readFilter,
} from '../store/records.ts';

export function feedRoute(app: FastifyInstance, contract: Contract<operations>): void {
  const { feed } = app;
  const { historyMaxAgeSeconds, headMaxAgeSeconds } = app.settings.raadsfeed;
  // While its answer is in memory, a repeated request does not get here: the hook of `feed/response-cache.ts` sends the answer first.
  contract.serve(app, 'getFeed', {}, (request, reply) => {
    const query = readPageQuery(request);
    return feed.responses.answer(request, reply, {
      records: query.limit,
      read: async () => {
        const { last, state, records } = await readPage(feed, query);
        const hasMore = last.sequenceNumber < state.head.sequenceNumber;
        const mount = feed.mountUrl();
        const cursor = encodeFeedCursor(state.feedId, last);
        const next = pageUrl(`${mount}/feed`, { ...query, cursor });
        const end = `"cursor":"${cursor}","head":${state.head.sequenceNumber},"hasMore":${hasMore},"next":${hasMore ? JSON.stringify(next) : 'null'}`;
        const self = pageUrl(`${mount}/feed`, query);
        return {
          body: ['{"records":[', ...withCommas(records.map((record) => joinRecord(record, mount))), `],${end}}`],
          maxAgeSeconds: hasMore ? historyMaxAgeSeconds : headMaxAgeSeconds,
          link: `<${next}>; rel="next", <${self}>; rel="self", <${mount}/openapi.json>; rel="service-desc"`,
          state,
          isHistory: hasMore,
        };
      },
    });
  });
}

async function readPage({ stateCache }: Feed, { cursor, limit, filter }: PageQuery) {
  const { position: from, state: known } = await resolveCursor(stateCache, cursor);
  const after = from.sequenceNumber;
  // A poll at the head costs the database nothing.
  if (after === known.head.sequenceNumber) {
    assertInFeed(known, from);
    return { last: from, state: known, records: [] };
  }
  const { state, records, isAll, epoch } = await stateCache
    .read((db) => readAfter(db, after, limit, filter))
    .catch((error: unknown) => {
      // A client must not read past a gap; the snapshot has the current state.
      throw error instanceof MissingNumberError ? invalidCursor('voor-de-geschiedenis') : error;
    });
  // Also without a cursor: the history was pruned further meanwhile.
  assertInFeed(state, from, epoch);
  // Fewer than requested: everything up to the head was read.
  return { state, records, last: isAll ? state.head : (records.at(-1) ?? state.head) };
}

const DEFAULT_LIMIT = 500;

export interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly filter: RecordFilter;
}

type ListQuery = operations['getFeed']['Querystring'];

/** @param query validated by the contract; not every list has all parameters */
export function readPageQuery({ query }: { readonly query: Partial<ListQuery> }): PageQuery {
  const { cursor, limit = DEFAULT_LIMIT } = query;
  return { cursor, limit, filter: readFilter(query) };
}

/** Address of a page, with only the parameters that differ from the default, so that each page has one address. */
export function pageUrl(listUrl: string, { cursor, limit, filter }: PageQuery): string {
  const query = [
    ...(cursor === undefined ? [] : [`cursor=${cursor}`]),
    ...(limit === DEFAULT_LIMIT ? [] : [`limit=${limit}`]),
    ...filterParameters(filter),
  ];
  return query.length === 0 ? listUrl : `${listUrl}?${query.join('&')}`;
}

export function withCommas(texts: readonly string[]): string[] {
  const pieces: string[] = [];
  for (const text of texts) {
    if (pieces.length > 0) pieces.push(',');
    pieces.push(text);
  }
  return pieces;
}

interface SnapshotPosition {
  readonly feed: FeedPosition;
  readonly after: number;
}

const KINDS = { feed: 1, snapshot: 2, list: 3 } as const;
const NUMBER_BYTES = 6;
const POSITION_BYTES = NUMBER_BYTES + 4;
/** The kind, and the random identity of the feed. */
const HEAD_BYTES = 1 + 8;

export function encodeFeedCursor(feedId: string, position: FeedPosition): string {
  return encode('feed', feedId, positionBytes(position));
}

export function encodeSnapshotCursor(feedId: string, { feed, after }: SnapshotPosition): string {
  const number = Buffer.alloc(NUMBER_BYTES);
  number.writeUIntBE(after, 0, NUMBER_BYTES);
  return encode('snapshot', feedId, Buffer.concat([positionBytes(feed), number]));
}

export function encodeListCursor(feedId: string, after: string): string {
  return encode('list', feedId, Buffer.from(after));
}

function encode(kind: keyof typeof KINDS, feedId: string, position: Buffer): string {
  return Buffer.concat([Buffer.of(KINDS[kind]), Buffer.from(feedId, 'hex'), position]).toString('base64url');
}

function positionBytes({ sequenceNumber, epoch }: FeedPosition): Buffer {
  const bytes = Buffer.alloc(POSITION_BYTES);
  bytes.writeUIntBE(sequenceNumber, 0, NUMBER_BYTES);
  bytes.writeInt32BE(epoch, NUMBER_BYTES);
  return bytes;
}

/** The position in a cursor. @throws {Problem} `ongeldige-cursor` unless it is one of this kind, feed and size */
function decode(kind: keyof typeof KINDS, feedId: string, cursor: string, size?: number): Buffer {
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(HEAD_BYTES);
  // The decoder skips unknown characters, so only a text that encodes back to itself is a cursor.
  const isCursor = bytes.length >= HEAD_BYTES && bytes[0] === KINDS[kind] && bytes.toString('base64url') === cursor;
  if (!isCursor) throw invalidCursor('onleesbaar');
  if (bytes.toString('hex', 1, HEAD_BYTES) !== feedId) throw invalidCursor('andere-feed');
  if (size !== undefined && position.length !== size) throw invalidCursor('onleesbaar');
  return position;
}

function readPosition(bytes: Buffer): FeedPosition {
  return { sequenceNumber: bytes.readUIntBE(0, NUMBER_BYTES), epoch: bytes.readInt32BE(NUMBER_BYTES) };
}

const REASONS = {
  onleesbaar: 'is geen cursor van deze dienst',
  'andere-feed': 'is niet van deze feed',
  'voor-de-geschiedenis': 'ligt voor de geschiedenis die bewaard is',
  'verder-dan-de-feed': 'ligt voorbij het einde van deze feed',
  'andere-geschiedenis': 'is van een geschiedenis die deze feed niet meer heeft',
} as const satisfies Record<string, string>;

type CursorName = 'cursor' | 'Last-Event-ID';

/** The problem of a cursor, or of a `Last-Event-ID`, that cannot be used; it says where to start again. */
export function invalidCursor(why: keyof typeof REASONS, name: CursorName = 'cursor'): Problem {
  const reason = REASONS[why];
  return new Problem(raadsfeedProblems.invalidCursor, {
    detail: `De plaats in \`${name}\` ${reason}. Begin opnieuw bij /snapshot.`,
    invalidParams: [{ name, code: why, reason }],
  });
}

/**
 * The position that a request begins after: that of its cursor, or the beginning of the history. The caller checks the epoch (`assertInFeed`).
 * @throws {Problem} `ongeldige-cursor`; or errors of reading the state
 */
export async function resolveCursor(stateCache: FeedStateCache, cursor: string | undefined) {
  const state = await stateCache.current();
  if (cursor === undefined) return { position: state.historyAfter, state };
  const position = readPosition(decode('feed', state.feedId, cursor, POSITION_BYTES));
  return { position, state: await resolveNumber(stateCache, position.sequenceNumber) };
}

/** The position of a snapshot in the feed is fixed before the first row is read, and travels in the cursor. @throws as `resolveCursor` */
export async function resolveSnapshotCursor(
  stateCache: FeedStateCache,
  cursor: string | undefined,
): Promise<SnapshotPosition> {
  const { feedId, head } = await stateCache.current();
  if (cursor === undefined) return { feed: head, after: 0 };
  const bytes = decode('snapshot', feedId, cursor, POSITION_BYTES + NUMBER_BYTES);
  const feed = readPosition(bytes);
  const after = bytes.readUIntBE(POSITION_BYTES, NUMBER_BYTES);
  if (after > feed.sequenceNumber) throw invalidCursor('onleesbaar');
  await resolveNumber(stateCache, feed.sequenceNumber);
  return { feed, after };
}

/** Where a list sorted by text continues; after the empty text at its beginning. @throws as `resolveCursor` */
export async function resolveListCursor(stateCache: FeedStateCache, cursor: string | undefined) {
  const { feedId } = await stateCache.current();
  if (cursor === undefined) return { feedId, after: '' };
  const bytes = decode('list', feedId, cursor);
  const after = bytes.toString();
  // Postgres refuses a zero byte in a text; bytes that are not UTF-8 do not survive decoding.
  if (after.includes('\0') || !Buffer.from(after).equals(bytes)) throw invalidCursor('onleesbaar');
  return { feedId, after };
}

/** The state, after refreshing it if needed to include a number. @throws {Problem} `ongeldige-cursor`; or errors of reading the state */
export async function resolveNumber(
  stateCache: FeedStateCache,
  sequenceNumber: number,
  name?: CursorName,
): Promise<FeedState> {
  const state = await stateCache.currentAtLeast(sequenceNumber);
  assertInRange(state, sequenceNumber, name);
  return state;
}

/** @throws {Problem} `ongeldige-cursor` when the number was pruned or is not there yet */
function assertInRange({ head, historyAfter }: FeedState, sequenceNumber: number, name?: CursorName): void {
  if (sequenceNumber > head.sequenceNumber) throw invalidCursor('verder-dan-de-feed', name);
  if (sequenceNumber < historyAfter.sequenceNumber) throw invalidCursor('voor-de-geschiedenis', name);
}

/**
 * @param found the epoch of the record at the position; needed unless the position is one of the two ends of the feed
 * @throws {Problem} `ongeldige-cursor` when the number was pruned, is not there yet, or was reused since
 */
export function assertInFeed(state: FeedState, { sequenceNumber, epoch }: FeedPosition, found?: number): void {
  assertInRange(state, sequenceNumber);
  const { head, historyAfter } = state;
  let known = found;
  if (head.sequenceNumber === sequenceNumber) known = head.epoch;
  else if (historyAfter.sequenceNumber === sequenceNumber) known = historyAfter.epoch;
  if (known !== epoch) throw invalidCursor('andere-geschiedenis');
}
