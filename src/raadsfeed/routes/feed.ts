/** `GET /feed`: the log after a position. */
import { crc32 } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../plugins/contract.ts';
import { joinRecord } from '../domain/record-text.ts';
import { assertInRange, assertSameEpoch, encodeFeedCursor, invalidCursor, resolveCursor } from '../feed/cursor.ts';
import type { RaadsfeedServices } from '../services.ts';
import type { FeedHead, FeedPosition } from '../store/feed-row.ts';
import { MissingNumberError, readFiltered, readRange } from '../store/read-records.ts';
import { type PageQuery, pageUrl, readPageQuery, withCommas } from './page-query.ts';

export function feedRoute(app: FastifyInstance, contract: Contract<operations>, services: RaadsfeedServices): void {
  const { settings, responses, mountUrl } = services;
  contract.serve(app, 'getFeed', {}, async (request, reply) => {
    const query = readPageQuery(request);
    return responses.answer(request, reply, query.limit, async () => {
      const { from, last, head, records } = await readPage(services, query);
      const hasMore = last.sequenceNumber < head.head.sequenceNumber;
      const mount = mountUrl();
      const cursor = encodeFeedCursor(head.feedId, last);
      const next = pageUrl(`${mount}/feed`, { ...query, cursor });
      const end = `"cursor":"${cursor}","head":${head.head.sequenceNumber},"hasMore":${hasMore},"next":${hasMore ? JSON.stringify(next) : 'null'}`;
      const self = pageUrl(`${mount}/feed`, query);
      return {
        body: () => ['{"records":[', ...withCommas(records), `],${end}}`],
        etag: etagOf(from, last, head, mount),
        maxAgeSeconds: hasMore ? settings.historyMaxAgeSeconds : settings.headMaxAgeSeconds,
        link: `<${next}>; rel="next", <${self}>; rel="self", <${mount}/openapi.json>; rel="service-desc"`,
        head,
        isHistory: hasMore,
      };
    });
  });
}

/** Everything that determines the body at one address; `head` is in the body of every page, so it is in the tag. */
function etagOf(from: FeedPosition, last: FeedPosition, { feedId, head, redactions }: FeedHead, mount: string): string {
  const base = crc32(mount, crc32(feedId)).toString(36);
  const epoch = (last.epoch >>> 0).toString(36);
  return `W/"${base}.${redactions}.${from.sequenceNumber}.${last.sequenceNumber}.${epoch}.${head.sequenceNumber}"`;
}

interface Page {
  /** The positions that it begins after, and that it was read to. */
  readonly from: FeedPosition;
  readonly last: FeedPosition;
  readonly head: FeedHead;
  readonly records: readonly string[];
}

/** @throws {Problem} `ongeldige-cursor` */
async function readPage(services: RaadsfeedServices, query: PageQuery): Promise<Page> {
  const { heads } = services;
  const { position: from, head: known } = await resolveCursor(heads, query.cursor);
  // A poll at the head costs the database nothing.
  if (from.sequenceNumber === known.head.sequenceNumber) {
    assertSameEpoch(known, from);
    return { from, last: from, head: known, records: [] };
  }
  const found = await readRecords(services, from, query).catch((error: unknown) => {
    // A client must not read past a hole; the snapshot has what is current.
    throw error instanceof MissingNumberError ? invalidCursor('voor-de-geschiedenis') : error;
  });
  const { head } = found;
  if (query.cursor === undefined && from.sequenceNumber < head.historyAfter.sequenceNumber) {
    // The history was pruned further meanwhile.
    await heads.refreshHead();
    return readPage(services, query);
  }
  assertInRange(head, from.sequenceNumber);
  assertSameEpoch(head, from, found.epoch);
  return { from, ...found };
}

/** `epoch`: of the record at the position; `undefined` when there is no record. */
async function readRecords(
  { reader, mountUrl }: RaadsfeedServices,
  from: FeedPosition,
  { limit, ...filter }: PageQuery,
): Promise<Omit<Page, 'from'> & { readonly epoch: number | undefined }> {
  const after = from.sequenceNumber;
  const mount = mountUrl();
  if (filter.organisatiecode === undefined && filter.resourceType === undefined) {
    const { records, epoch, lastEpoch, head } = await reader.read((db) => readRange(db, after, limit, mount), after);
    if (records !== undefined) {
      const last = { sequenceNumber: after + records.length, epoch: lastEpoch ?? from.epoch };
      return { records, last: records.length === 0 ? from : last, head, epoch };
    }
  }
  const { records, isAll, epoch, head } = await reader.read((db) => readFiltered(db, after, limit, filter), after);
  // Fewer than asked for: everything up to the head was read.
  const { sequenceNumber, epoch: lastEpoch } = isAll ? head.head : (records.at(-1) ?? head.head);
  return {
    records: records.map((text) => joinRecord(text, mount)),
    last: { sequenceNumber, epoch: lastEpoch },
    ...{ head, epoch },
  };
}
