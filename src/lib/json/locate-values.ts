import { MAX_DEPTH } from './parse-untrusted.ts';

export class JsonTextError extends Error {
  readonly offset: number;
  /** True for a member that occurs twice; else the text is not JSON. */
  readonly isDuplicate: boolean;
  constructor(message: string, offset: number, isDuplicate = false) {
    super(message);
    this.name = 'JsonTextError';
    this.offset = offset;
    this.isDuplicate = isDuplicate;
  }
}

/**
 * Slow and strict: only for texts with a fault. A text may have as many values as half of its bytes, so nothing is kept of the others.
 * @throws {JsonTextError} at the first character that is not JSON, and at a duplicate member
 */
export function locateValues(text: string, pointers: readonly string[] = []): ReadonlyMap<string, number> {
  const locator = new ValueLocator(text, pointers);
  locator.value('', 0);
  locator.end();
  return locator.found;
}

const WHITE = /[ \t\n\r]*/y;
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

class ValueLocator {
  readonly found = new Map<string, number>();
  readonly #text: string;
  readonly #onPath = new Set<string>();
  readonly #wanted: ReadonlySet<string>;
  #at = 0;

  constructor(text: string, pointers: readonly string[]) {
    this.#text = text;
    this.#wanted = new Set(pointers);
    for (const pointer of pointers) {
      for (let end = pointer.length; end !== -1; end = end === 0 ? -1 : pointer.lastIndexOf('/', end - 1)) {
        this.#onPath.add(pointer.slice(0, end));
      }
    }
  }

  end(): void {
    this.#skip(WHITE);
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  /** @param pointer undefined: nothing in it is searched for */
  value(pointer: string | undefined, depth: number): void {
    if (depth > MAX_DEPTH) throw new JsonTextError('nested too deeply', this.#at);
    this.#skip(WHITE);
    if (pointer !== undefined && this.#wanted.has(pointer)) this.found.set(pointer, this.#at);
    if (this.#take('{')) this.#members(pointer, depth);
    else if (this.#take('[')) this.#items(pointer, depth);
    else if (!this.#skip(STRING) && !this.#skip(SCALAR)) throw this.#unexpected();
  }

  #members(pointer: string | undefined, depth: number): void {
    if (this.#take('}')) return;
    const names = new Set<string>();
    do {
      this.#skip(WHITE);
      const start = this.#at;
      if (!this.#skip(STRING)) throw this.#unexpected();
      const name = String(JSON.parse(this.#text.slice(start, this.#at)));
      if (names.has(name)) throw new JsonTextError(`member ${JSON.stringify(name)} occurs twice`, start, true);
      names.add(name);
      this.#expect(':');
      this.value(this.#below(pointer, name.replaceAll('~', '~0').replaceAll('/', '~1')), depth + 1);
    } while (this.#take(','));
    this.#expect('}');
  }

  #items(pointer: string | undefined, depth: number): void {
    if (this.#take(']')) return;
    let index = 0;
    do {
      this.value(this.#below(pointer, String(index)), depth + 1);
      index += 1;
    } while (this.#take(','));
    this.#expect(']');
  }

  #below(pointer: string | undefined, step: string): string | undefined {
    const below = pointer === undefined ? undefined : `${pointer}/${step}`;
    return below !== undefined && this.#onPath.has(below) ? below : undefined;
  }

  #take(character: string): boolean {
    this.#skip(WHITE);
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw this.#unexpected();
  }

  /** @returns whether a text of at least one character was skipped */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    const isFound = pattern.lastIndex > this.#at;
    this.#at = pattern.lastIndex;
    return isFound;
  }

  #unexpected(): JsonTextError {
    const found = this.#text[this.#at];
    // The character itself may be part of a person's data; only structure is shown.
    const shown = found === undefined ? 'end of text' : /[{}[\],:"]/.test(found) ? `'${found}'` : 'character';
    return new JsonTextError(`not JSON: unexpected ${shown}`, this.#at);
  }
}
