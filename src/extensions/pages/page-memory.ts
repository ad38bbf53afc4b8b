/**
 * Pages that were just made, for whoever asks for the same within a second. A page counts only while the feed stands as it stood before its
 * rows were read, so a redaction is out with the first notification of it, and within the second in any case.
 */
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { acceptedEncoding } from '../../plugins/headers.ts';
import type { EncodedText } from '../../plugins/html/mount.ts';
import type { HeadCache } from '../../raadsfeed/feed/head.ts';
import type { FeedHead } from '../../raadsfeed/store/feed-row.ts';

/** The index follows the feed a moment later, and the front page tells what comes and what was. */
const KEPT_MS = 1000;
/** Longest address that is kept, in characters. */
const ADDRESS_LENGTH = 1000;

interface KeptPage {
  readonly head: FeedHead;
  /** By the clock of the head. */
  readonly until: number;
  readonly text: EncodedText;
}

export interface PageMemory {
  /** The page of this request: the one that was just made, or a new one. */
  page(request: FastifyRequest, make: () => Promise<EncodedText>): Promise<EncodedText>;
  readonly bytes: () => number;
}

/** @param maxBytes 0 keeps nothing */
export function createPageMemory(maxBytes: number, heads: HeadCache): PageMemory {
  const kept = new LRUCache<string, KeptPage>({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: ({ text }) => 2000 + text.bytes.length,
  });
  heads.onChange(() => kept.clear());
  return {
    async page(request, make) {
      const key = `${acceptedEncoding(request.headers['accept-encoding'], ['br', 'gzip'])} ${request.url}`;
      const head = heads.cachedHead();
      const found = kept.get(key);
      if (found !== undefined && found.head === head && heads.now() < found.until) return found.text;
      const since = heads.now();
      const text = await make();
      if (head !== undefined && head === heads.cachedHead() && key.length <= ADDRESS_LENGTH)
        kept.set(key, { head, until: since + KEPT_MS, text });
      return text;
    },
    bytes: () => kept.calculatedSize,
  };
}
