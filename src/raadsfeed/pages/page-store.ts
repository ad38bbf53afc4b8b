import type { FeedPosition } from '../domain/cursor.ts';
import type { FeedRow } from '../store/read-feed-row.ts';
import { createSizedCache } from './sized-cache.ts';
import { type CompressedEncoding, type OpenBody, openBody } from './splice.ts';

/** The place that a page begins after, and the last one that was looked at. */
export interface PageBounds {
  readonly from: FeedPosition;
  readonly last: FeedPosition;
}

/** The records of a full page as bytes, `{"records":[…]`: what never changes of it but by a redaction. */
export interface PageRecords extends PageBounds {
  readonly bytes: Buffer;
  /** Compressed once, however many ask. */
  readonly compressed: (encoding: CompressedEncoding) => Promise<OpenBody>;
}

/** Full pages of history in memory, plain and compressed. All of it goes whenever something earlier has changed. */
export interface PageStore {
  get(key: string): PageRecords | undefined;
  /** Changes whenever all goes. Asked before a page is read. */
  readonly age: () => number;
  /** Keeps a page, unless something earlier may have changed since it was read. */
  keep(key: string, age: number, page: Omit<PageRecords, 'compressed'>): void;
  /** The feed stands thus now; something earlier may have changed. */
  atFeed(feed: Pick<FeedRow, 'head' | 'redactions'>): void;
  readonly bytes: () => number;
}

export function createPageStore(maxBytes: number): PageStore {
  const pages = createSizedCache<PageRecords>(maxBytes);
  let present: Pick<FeedRow, 'head' | 'redactions'> | undefined;
  let age = 0;
  return {
    get: (key) => pages.get(key),
    age: () => age,
    keep(key, ageOfPage, page) {
      if (ageOfPage !== age) return;
      const encodings = new Map<CompressedEncoding, Promise<OpenBody>>();
      const kept: PageRecords = {
        ...page,
        compressed(encoding) {
          let body = encodings.get(encoding);
          if (body === undefined) {
            body = openBody(page.bytes, encoding);
            encodings.set(encoding, body);
            body.then(
              ({ bytes }) => pages.grow(key, kept, bytes.length),
              () => encodings.delete(encoding),
            );
          }
          return body;
        },
      };
      pages.set(key, kept, page.bytes.length);
    },
    atFeed(feed) {
      const before = present;
      present = feed;
      if (before !== undefined && before.redactions === feed.redactions && isLater(feed.head, before.head)) return;
      age += 1;
      pages.clear();
    },
    bytes: pages.bytes,
  };
}

/** Whether a head can have come after another: a feed that was restored from a backup has lost numbers, and gives them anew. */
function isLater(head: FeedPosition, before: FeedPosition): boolean {
  return head.sequenceNumber === before.sequenceNumber
    ? head.merk === before.merk
    : head.sequenceNumber > before.sequenceNumber;
}
