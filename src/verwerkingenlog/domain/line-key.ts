/** Keyed hashes of a line of LDV that is stored once: of its owner and ids, and of its content. */
export interface LineKey {
  readonly key: string;
  readonly content: string;
}

/**
 * The key of a line, from what the first version of its action keeps.
 * @param hash a keyed hash
 * @throws {Error} when that cannot be read
 */
export type KeyOfLine = (line: string, hash: (text: string) => string) => LineKey;
