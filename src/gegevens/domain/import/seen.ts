import { hashId, IdIndex } from './id-index.ts';

/** Remembers texts by their hash, to notice one that comes again: as it is written, so two spellings of one value are two. */
export class Seen {
  readonly #texts = new IdIndex();

  /** @returns whether the text was there before */
  again(text: string): boolean {
    const hash = hashId(text);
    if (this.#texts.get(hash) !== undefined) return true;
    this.#texts.add(hash, 0);
    return false;
  }
}
