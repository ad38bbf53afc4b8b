import { LRUCache } from 'lru-cache';
import type { MemoryPermit, MemorySemaphore } from './memory-semaphore.ts';
import type { PageBytes } from './write-page.ts';

/** Keeps pages that were written. Requests for a page that is being written or sent share that one. */
export interface PageCache {
  /**
   * @param signal fires when this request does not want it any more
   * @throws the signal's reason, what `write` throws, or what the semaphore throws
   */
  get(key: string, wanted: CacheablePage, signal: AbortSignal): Promise<CachedPage>;
  /** Empties the cache; pages that are being written or sent now are not cached either. */
  clear(): void;
}

interface CacheablePage {
  /** Estimated. */
  readonly bytes: number;
  /** Whose share of the memory it takes. */
  readonly client: string;
  /** Called when the page is not in memory; its signal fires when no request waits for it any more. */
  readonly write: (signal: AbortSignal) => Promise<PageBytes>;
}

export interface CachedPage extends PageBytes {
  readonly from: 'memory' | 'shared' | 'database';
  /** To be called when its bytes are not needed any more: sent, or never to be. */
  readonly release: () => void;
}

/** A page that requests wait for or send. */
interface ActivePage {
  readonly page: Promise<PageBytes>;
  readonly abandon: AbortController;
  /** Absent until there is memory for it and its bytes are known. */
  permit: MemoryPermit | undefined;
  /** One for each request. */
  readonly clients: string[];
}

/** @param maxBytes for cached pages beside those that are being written or sent; 0 caches none */
export function createPageCache(maxBytes: number, semaphore: MemorySemaphore): PageCache {
  const recent = new LRUCache<string, PageBytes>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length,
  });
  const active = new Map<string, ActivePage>();
  let generation = 0;

  const start = (key: string, found: PageBytes | undefined, wanted: CacheablePage): ActivePage => {
    const clients: string[] = [];
    const abandon = new AbortController();
    const { signal } = abandon;
    const obtain = async (): Promise<PageBytes> => {
      const startedIn = generation;
      const inMemory = found !== undefined;
      const permit = await semaphore.acquire({ bytes: found?.bytes ?? wanted.bytes, clients, inMemory }, signal);
      try {
        const page = found ?? (await wanted.write(signal));
        signal.throwIfAborted();
        permit.resize(page.bytes);
        entry.permit = permit;
        // The client that it was counted for may have disconnected meanwhile.
        permit.reassign();
        if (!inMemory && startedIn === generation) recent.set(key, page);
        return page;
      } catch (error) {
        permit.release();
        throw error;
      }
    };
    const page = Promise.resolve()
      .then(obtain)
      .catch((error: unknown) => {
        forget(key, entry);
        throw error;
      });
    const entry: ActivePage = { page, abandon, permit: undefined, clients };
    active.set(key, entry);
    return entry;
  };

  const forget = (key: string, entry: ActivePage): void => {
    if (active.get(key) === entry) active.delete(key);
  };

  const leave = (key: string, entry: ActivePage, client: string): void => {
    entry.clients.splice(entry.clients.indexOf(client), 1);
    if (entry.clients.length > 0) {
      entry.permit?.reassign();
      return;
    }
    forget(key, entry);
    entry.permit?.release();
    entry.abandon.abort();
    // No request is left that could report how it ended.
    entry.page.catch(() => undefined);
  };

  return {
    clear() {
      generation += 1;
      recent.clear();
      active.clear();
    },
    async get(key, wanted, signal) {
      signal.throwIfAborted();
      const running = active.get(key);
      const found = running === undefined ? recent.get(key) : undefined;
      const from = running?.permit !== undefined || found !== undefined ? 'memory' : running ? 'shared' : 'database';
      const entry = running ?? start(key, found, wanted);
      entry.clients.push(wanted.client);
      if (running !== undefined && running.permit === undefined) semaphore.retryWaiting();
      let isReleased = false;
      const release = (): void => {
        if (!isReleased) leave(key, entry, wanted.client);
        isReleased = true;
      };
      try {
        return { ...(await Promise.race([entry.page, aborted(signal)])), from, release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
