import type { PageBytes } from './piece-writer.ts';

/** Keeps pages that were made, and lets requests for a page that is being made wait for that one. */
export interface PageCache {
  /**
   * @param make called when the page is neither kept nor being made; its signal fires when nobody waits for it any more
   * @param signal fires when this request does not want it any more
   * @throws the signal's reason, or what `make` throws
   */
  get(key: string, make: (signal: AbortSignal) => Promise<PageBytes>, signal: AbortSignal): Promise<CachedPage>;
}

export interface CachedPage extends PageBytes {
  readonly from: 'memory' | 'shared' | 'database';
}

interface Making {
  readonly page: Promise<PageBytes>;
  readonly abandon: AbortController;
  waiting: number;
}

/** @param maxBytes most bytes that are kept; the page that was asked for longest ago makes place */
export function createPageCache(maxBytes: number): PageCache {
  // A map keeps its order: what is asked for goes to the end, what is at the front goes first.
  const kept = new Map<string, PageBytes>();
  const making = new Map<string, Making>();
  let keptBytes = 0;

  const keep = (key: string, page: PageBytes): void => {
    if (page.bytes > maxBytes) return;
    kept.set(key, page);
    keptBytes += page.bytes;
    for (const [oldest, { bytes }] of kept) {
      if (keptBytes <= maxBytes) break;
      kept.delete(oldest);
      keptBytes -= bytes;
    }
  };

  const begin = (key: string, make: (signal: AbortSignal) => Promise<PageBytes>): Making => {
    const abandon = new AbortController();
    const page = make(abandon.signal)
      .then((made) => {
        keep(key, made);
        return made;
      })
      .finally(() => making.delete(key));
    const begun = { page, abandon, waiting: 0 };
    making.set(key, begun);
    return begun;
  };

  return {
    async get(key, make, signal) {
      signal.throwIfAborted();
      const found = kept.get(key);
      if (found !== undefined) {
        kept.delete(key);
        kept.set(key, found);
        return { ...found, from: 'memory' };
      }
      const running = making.get(key);
      const mine = running ?? begin(key, make);
      mine.waiting += 1;
      try {
        const page = await Promise.race([mine.page, aborted(signal)]);
        return { ...page, from: running === undefined ? 'database' : 'shared' };
      } finally {
        mine.waiting -= 1;
        if (mine.waiting === 0 && signal.aborted) {
          making.delete(key);
          mine.abandon.abort(signal.reason);
          // Nobody is left to hear how it ended.
          mine.page.catch(() => undefined);
        }
      }
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
