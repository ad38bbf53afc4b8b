import type { FeedPosition } from '../domain/cursor.ts';
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
  /** Keeps a page, unless something earlier has changed since `redactions` was read. */
  keep(key: string, redactions: number, page: Omit<PageRecords, 'compressed'>): void;
  /** Something earlier may have changed. */
  atRedactions(redactions: number): void;
  readonly bytes: () => number;
}

export function createPageStore(maxBytes: number): PageStore {
  const pages = createSizedCache<PageRecords>(maxBytes);
  let present: number | undefined;
  return {
    get: (key) => pages.get(key),
    keep(key, redactions, page) {
      if (redactions !== present) return;
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
    atRedactions(redactions) {
      if (redactions === present) return;
      present = redactions;
      pages.clear();
    },
    bytes: pages.bytes,
  };
}
