/** Keyed hashes of a stored LDV line: of its owner and ids, and of its content. */
export interface LineKey {
  readonly key: string;
  readonly content: string;
}

/** The key of a line, from the first version of its action. @param hash a keyed hash @throws {Error} when the line is unreadable */
export type KeyOfLine = (line: string, hash: (text: string) => string) => LineKey;
