/**
 * JSON that comes from outside. A text of brackets takes some fifty times its size in memory once it is parsed, and seconds to do it: so its
 * depth, members and values are counted before anything is built, and a text that has more of them than its reader needs is refused.
 */
import { isUtf8 } from 'node:buffer';

/** The most that a document may have. */
export interface JsonLimits {
  readonly bytes: number;
  /** Levels of nested objects and lists. */
  readonly depth: number;
  /** Members of all objects together. */
  readonly members: number;
  /** Values of every kind at every level together; an empty object or list may count twice. */
  readonly values: number;
}

export type UntrustedJsonCode =
  | 'too-large'
  | 'too-deep'
  | 'too-many-members'
  | 'too-many-values'
  | 'not-utf8'
  | 'not-json';

/** The message is for operators and shows nothing of the text. */
export class UntrustedJsonError extends Error {
  readonly code: UntrustedJsonCode;

  constructor(code: UntrustedJsonCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = 'UntrustedJsonError';
    this.code = code;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a byte outside strings means: every other byte is 0. */
const QUOTED = 1;
const OPENS = 2;
const CLOSES = 3;
const SEPARATES = 4;
const NAMES = 5;
const MEANING = new Uint8Array(256);
MEANING[QUOTE] = QUOTED;
for (const [characters, meaning] of [
  ['[{', OPENS],
  [']}', CLOSES],
  [',', SEPARATES],
  [':', NAMES],
] as const) {
  for (const byte of Buffer.from(characters)) MEANING[byte] = meaning;
}

/**
 * Counts while a text streams through, so that reading it can end at the byte that is too many. Only structure is read, and in constant memory:
 * whether the text is JSON is up to its parser.
 */
export class JsonCounter {
  readonly #limits: JsonLimits;
  #bytes = 0;
  #depth = 0;
  #members = 0;
  #values = 1;
  #inString = false;
  /** The next byte follows a backslash. */
  #escaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** @throws {UntrustedJsonError} at the first limit that is exceeded */
  feed(chunk: Uint8Array): void {
    const { bytes: maxBytes, depth: maxDepth, members: maxMembers, values: maxValues } = this.#limits;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) throw new UntrustedJsonError('too-large', `larger than ${maxBytes} bytes`);
    const { length } = chunk;
    if (length === 0) return;
    let depth = this.#depth;
    let members = this.#members;
    let values = this.#values;
    let inString = this.#inString;
    let at = this.#escaped ? 1 : 0;
    while (at < length) {
      if (inString) {
        for (; at < length && inString; at += 1) {
          const byte = chunk[at];
          if (byte === QUOTE) inString = false;
          else if (byte === BACKSLASH) at += 1;
        }
      }
      let meaning = 0;
      for (; at < length && meaning === 0; at += 1) meaning = MEANING[chunk[at] ?? 0] ?? 0;
      if (meaning === QUOTED) inString = true;
      else if (meaning === OPENS) {
        depth += 1;
        values += 1;
        if (depth > maxDepth) throw new UntrustedJsonError('too-deep', `more than ${maxDepth} levels deep`);
        if (values > maxValues) throw tooManyValues(maxValues);
      } else if (meaning === CLOSES) depth -= 1;
      else if (meaning === SEPARATES) {
        values += 1;
        if (values > maxValues) throw tooManyValues(maxValues);
      } else if (meaning === NAMES) {
        members += 1;
        if (members > maxMembers) throw new UntrustedJsonError('too-many-members', `more than ${maxMembers} members`);
      }
    }
    this.#escaped = at > length;
    this.#depth = depth;
    this.#members = members;
    this.#values = values;
    this.#inString = inString;
  }
}

function tooManyValues(most: number): UntrustedJsonError {
  return new UntrustedJsonError('too-many-values', `more than ${most} values`);
}

/**
 * Parses JSON from outside: UTF-8, read strictly, with or without a byte order mark.
 * @throws {UntrustedJsonError}
 */
export function parseUntrusted(source: Uint8Array | string, limits: JsonLimits): unknown {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  new JsonCounter(limits).feed(bytes);
  return typeof source === 'string' ? parse(source) : parseCounted(source);
}

/**
 * Parses bytes that a `JsonCounter` has counted.
 * @throws {UntrustedJsonError} `not-utf8`, `not-json`
 */
export function parseCounted(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new UntrustedJsonError('not-utf8', 'not UTF-8');
  return parse(new TextDecoder().decode(bytes));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new UntrustedJsonError('not-json', 'not JSON');
  }
}
