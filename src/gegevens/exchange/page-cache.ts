import type { AnswerRoom, Place } from './memory-semaphore.ts';
import type { PageBytes } from './write-page.ts';

/** Keeps pages that were made, and lets requests for a page that is being made or sent share that one. */
export interface PageCache {
  /**
   * @param signal fires when this request does not want it any more
   * @throws the signal's reason, what `make` throws, or what the room throws when there is none
   */
  get(key: string, wanted: WantedPage, signal: AbortSignal): Promise<CachedPage>;
  /** Forgets what is kept; what is being made or sent now is not kept afterwards. */
  clear(): void;
}

interface WantedPage {
  /** About how many bytes it will take. */
  readonly bytes: number;
  /** Whose share of the room it is made and sent in. */
  readonly client: string;
  /** Called when the page is nowhere; its signal fires when nobody waits for it any more. */
  readonly make: (signal: AbortSignal) => Promise<PageBytes>;
}

export interface CachedPage extends PageBytes {
  readonly from: 'memory' | 'shared' | 'database';
  /** To be called when its bytes are not needed any more: sent, or never to be. */
  readonly release: () => void;
}

/** A page that somebody waits for or sends. */
interface Live {
  readonly page: Promise<PageBytes>;
  readonly abandon: AbortController;
  place: Place | undefined;
  /** The client of each of them; its room is counted for one. */
  readonly users: string[];
}

/** @param maxBytes most bytes that are kept for who asks again */
export function createPageCache(maxBytes: number, room: AnswerRoom): PageCache {
  const recent = new RecentPages(maxBytes);
  const live = new Map<string, Live>();
  let cleared = 0;

  const begin = (key: string, found: PageBytes | undefined, wanted: WantedPage): Live => {
    const users: string[] = [];
    const abandon = new AbortController();
    const { signal } = abandon;
    const making = async (): Promise<PageBytes> => {
      const since = cleared;
      const inMemory = found !== undefined;
      const place = await room.enter({ bytes: found?.bytes ?? wanted.bytes, clients: users, inMemory }, signal);
      try {
        const page = found ?? (await wanted.make(signal));
        signal.throwIfAborted();
        place.resize(page.bytes);
        begun.place = place;
        // Whose share it was taken from may have left meanwhile.
        place.reassign();
        if (!inMemory && since === cleared) recent.keep(key, page);
        return page;
      } catch (error) {
        place.leave();
        throw error;
      }
    };
    const page = Promise.resolve()
      .then(making)
      .catch((error: unknown) => {
        forget(key, begun);
        throw error;
      });
    const begun: Live = { page, abandon, place: undefined, users };
    live.set(key, begun);
    return begun;
  };

  const forget = (key: string, gone: Live): void => {
    if (live.get(key) === gone) live.delete(key);
  };

  const leave = (key: string, mine: Live, client: string): void => {
    mine.users.splice(mine.users.indexOf(client), 1);
    if (mine.users.length > 0) {
      mine.place?.reassign();
      return;
    }
    forget(key, mine);
    mine.place?.leave();
    mine.abandon.abort();
    // Nobody is left to hear how it ended.
    mine.page.catch(() => undefined);
  };

  return {
    clear() {
      cleared += 1;
      recent.clear();
      live.clear();
    },
    async get(key, wanted, signal) {
      signal.throwIfAborted();
      const running = live.get(key);
      const found = running === undefined ? recent.find(key) : undefined;
      const from = running?.place !== undefined || found !== undefined ? 'memory' : running ? 'shared' : 'database';
      const mine = running ?? begin(key, found, wanted);
      mine.users.push(wanted.client);
      if (running !== undefined && running.place === undefined) room.joined();
      let released = false;
      const release = (): void => {
        if (!released) leave(key, mine, wanted.client);
        released = true;
      };
      try {
        return { ...(await Promise.race([mine.page, aborted(signal)])), from, release };
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

/** Pages that were made, up to a number of bytes; the one that was asked for longest ago makes place. */
class RecentPages {
  // A map keeps its order: what is asked for goes to the end, what is at the front goes first.
  readonly #pages = new Map<string, PageBytes>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(key: string): PageBytes | undefined {
    const found = this.#pages.get(key);
    if (found === undefined) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, found);
    return found;
  }

  clear(): void {
    this.#pages.clear();
    this.#bytes = 0;
  }

  keep(key: string, page: PageBytes): void {
    if (page.bytes > this.#maxBytes || this.#pages.has(key)) return;
    this.#pages.set(key, page);
    this.#bytes += page.bytes;
    for (const [oldest, { bytes }] of this.#pages) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#pages.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}
