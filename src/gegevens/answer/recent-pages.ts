import type { PageBytes } from './piece-writer.ts';

/** Pages that were made, up to a number of bytes; the one that was asked for longest ago makes place. */
export class RecentPages {
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
