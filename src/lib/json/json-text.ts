/** JSON texts, read strictly: members that occur twice, depth, and where values begin. */
import { isRecord, type JsonObject } from './json-value.ts';

/** Maximum number of levels of nested objects and lists: writing JSON takes a stack frame for each, and no message has a tenth of them. */
export const MAX_DEPTH = 100;

/**
 * Why a value that `JSON.parse` made cannot be written as it was read, or `undefined`.
 * @param levels most levels of objects and lists
 */
export function unwritable(value: unknown, levels = MAX_DEPTH): string | undefined {
  // Read as infinite, and it would be written as `null`.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    return 'has a number that is too large for JSON to be read';
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels < 0) return 'is nested too deeply';
  for (const member of Object.values(value)) {
    const fault = unwritable(member, levels - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** A member of a JSON object occurs twice. */
export class DuplicateMemberError extends SyntaxError {
  readonly code = 'ERR_DUPLICATE_MEMBER';
}

/**
 * Parses a JSON object and refuses a member that occurs twice, at any level and however it is escaped: two readers of
 * the same signed text must never see different values (RFC 7515 section 4).
 * @param levels most levels of objects and lists within it
 * @throws {SyntaxError} a `DuplicateMemberError` for that
 */
export function parseStrictObject(text: string, levels = 16): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new SyntaxError('not a JSON object');
  const fault = unwritable(value, levels);
  if (fault !== undefined) throw new SyntaxError(fault);
  if (hasDoubleNames(text, value)) throw new DuplicateMemberError('a member occurs twice');
  return value;
}

/**
 * Whether a member occurs twice in an object of a JSON text. `JSON.parse` silently takes the last one, and RFC 8785 (section 3.1, I-JSON)
 * knows no such object: what is published would not be what the source wrote.
 * @param value what `JSON.parse` made of the text
 */
export function hasDoubleNames(text: string, value: unknown): boolean {
  // What comes out as it went in has lost nothing: true of what most programs write, and several times faster.
  if (JSON.stringify(value) === text) return false;
  return countColons(text) !== countMembers(value);
}

/** How many members all objects within a parsed value have together: fewer than its text has colons when one occurs twice. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
    return count;
  }
  for (const member of Object.values(value)) {
    count += 1;
    if (typeof member === 'object') count += countMembers(member);
  }
  return count;
}

/** Colons outside strings. */
function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'), from = 0; ; at = text.indexOf('"', from)) {
    const structure = text.slice(from, at === -1 ? undefined : at);
    for (let colon = structure.indexOf(':'); colon !== -1; colon = structure.indexOf(':', colon + 1)) count += 1;
    if (at === -1) return count;
    let end = text.indexOf('"', at + 1);
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
    from = end + 1;
  }
}

/** A quote behind an odd number of backslashes belongs to the text. */
function isEscaped(text: string, quote: number): boolean {
  let from = quote;
  while (text[from - 1] === '\\') from -= 1;
  return (quote - from) % 2 === 1;
}

/** A JSON text that is not JSON, or has a member twice; `offset` is where. */
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
 * Where the values at some pointers begin in a JSON text. Slow and strict: only for texts with a fault, to say where it is. A text may have
 * as many values as half of its bytes, so nothing is kept of the others.
 * @throws {JsonTextError} at the first character that is not JSON, and at a member that its object already has
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
  /** The pointers, and those of the values that hold theirs. */
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

  /** @returns whether something other than nothing was there */
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
