/**
 * JSON from outside. A text of brackets takes a hundred times its size in memory once parsed, and seconds to parse: so it is counted before anything
 * is built, and refused when it exceeds the limits of its reader.
 */
import { isUtf8 } from 'node:buffer';
import { isRecord, type JsonObject } from './json-value.ts';

export interface JsonLimits {
  readonly bytes: number;
  readonly depth?: number;
  /** Objects and lists together: each takes about a hundred bytes, be it empty. */
  readonly containers?: number;
  readonly members?: number;
  /** Members of one object: parsing many distinct names takes long, and explaining each takes longer. */
  readonly objectMembers?: number;
  /** Values of every kind at every level; an empty object or list counts twice. */
  readonly values?: number;
}

/**
 * A page of a thousand records of a council feed has 10 000 objects and lists, 30 000 members and 35 000 values; a window of the largest supplier
 * five times as many. A text within these limits takes less than 100 MB once parsed.
 */
const USUAL: Required<Omit<JsonLimits, 'bytes'>> = {
  // Far more than a record may have: a record that is nested too deeply is refused alone, and a redaction beside it is carried out.
  depth: 25_000,
  containers: 300_000,
  members: 500_000,
  objectMembers: 500_000,
  values: 1_000_000,
};

/** For one delivery. Its maximum of 25 000 records has 1.2 million values in 200 000 objects and lists; complete records three times as many. */
export const ANSWER_LIMITS: Omit<JsonLimits, 'bytes'> = {
  containers: 1_000_000,
  members: 5_000_000,
  values: 6_000_000,
};

export type UntrustedJsonCode =
  | 'too-large'
  | 'too-deep'
  | 'too-many-containers'
  | 'too-many-members'
  | 'too-many-object-members'
  | 'too-many-values'
  | 'double-member'
  | 'not-utf8'
  | 'not-json';

/** The message continues the name of the text, for operators, and shows nothing of its contents: `has more than 25000 levels`. */
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

/** The meaning of a byte outside strings; every other byte is 0. */
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

/** Counts the structure of a text that streams through: reading can end at the first byte too many. Whether it is JSON is left to its parser. */
export class JsonCounter {
  readonly #limits: Required<JsonLimits>;
  #bytes = 0;
  #depth = 0;
  #containers = 0;
  #members = 0;
  /** Members of the innermost object, and of those around it; a list has none. */
  #ownMembers = 0;
  readonly #outerMembers: number[] = [];
  #values = 1;
  #inString = false;
  #escaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = { ...USUAL, ...limits };
  }

  get members(): number {
    return this.#members;
  }

  /** @throws {UntrustedJsonError} at the first limit that is exceeded */
  feed(chunk: Uint8Array): void {
    const most = this.#limits;
    this.#bytes += chunk.length;
    if (this.#bytes > most.bytes) throw new UntrustedJsonError('too-large', `is larger than ${most.bytes} bytes`);
    const { length } = chunk;
    if (length === 0) return;
    let depth = this.#depth;
    let containers = this.#containers;
    let members = this.#members;
    let ownMembers = this.#ownMembers;
    const outerMembers = this.#outerMembers;
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
        containers += 1;
        values += 1;
        if (depth > most.depth) throw new UntrustedJsonError('too-deep', `has more than ${most.depth} levels`);
        if (containers > most.containers) throw tooMany('containers', most.containers);
        outerMembers.push(ownMembers);
        ownMembers = 0;
      } else if (meaning === CLOSES) {
        depth -= 1;
        ownMembers = outerMembers.pop() ?? 0;
      } else if (meaning === SEPARATES) values += 1;
      else if (meaning === NAMES) {
        members += 1;
        ownMembers += 1;
        if (members > most.members) throw tooMany('members', most.members);
        if (ownMembers > most.objectMembers) {
          throw new UntrustedJsonError(
            'too-many-object-members',
            `has an object of more than ${most.objectMembers} members`,
          );
        }
      }
      if (values > most.values) throw tooMany('values', most.values);
    }
    this.#escaped = at > length;
    this.#depth = depth;
    this.#containers = containers;
    this.#members = members;
    this.#ownMembers = ownMembers;
    this.#values = values;
    this.#inString = inString;
  }
}

function tooMany(what: 'containers' | 'members' | 'values', most: number): UntrustedJsonError {
  const named = what === 'containers' ? 'objects and lists' : what;
  return new UntrustedJsonError(`too-many-${what}`, `has more than ${most} ${named}`);
}

/** Parses JSON from outside: UTF-8, read strictly, with or without a byte order mark. @throws {UntrustedJsonError} */
export function parseUntrusted(source: Uint8Array | string, limits: JsonLimits): unknown {
  return parseCounting(source, new JsonCounter(limits));
}

function parseCounting(source: Uint8Array | string, counter: JsonCounter): unknown {
  counter.feed(typeof source === 'string' ? Buffer.from(source) : source);
  return typeof source === 'string' ? parse(source) : parseCounted(source);
}

export function parseIfJson(source: Uint8Array | string, limits: JsonLimits): unknown {
  try {
    return parseUntrusted(source, limits);
  } catch (error) {
    if (error instanceof UntrustedJsonError) return undefined;
    throw error;
  }
}

/** Levels of objects and lists within a signed object. */
const STRICT_LEVELS = 16;

/** Refuses a duplicate member: readers of a signed text must never see different values (RFC 7515 section 4). @throws {UntrustedJsonError} */
export function parseStrict(source: Uint8Array | string, limits: JsonLimits): unknown {
  const counter = new JsonCounter(limits);
  const value = parseCounting(source, counter);
  if (!isRecord(value)) return value;
  const fault = unwritable(value, STRICT_LEVELS);
  if (fault !== undefined) throw new UntrustedJsonError('not-json', fault);
  if (counter.members !== countMembers(value)) throw new UntrustedJsonError('double-member', 'has a member twice');
  return value;
}

/** The same for a text that must be an object. @throws {UntrustedJsonError} */
export function parseStrictObject(text: string): JsonObject {
  const value = parseStrict(text, UNLIMITED);
  if (!isRecord(value)) throw new UntrustedJsonError('not-json', 'is not a JSON object');
  return value;
}

/** Whether an object has a duplicate member: `JSON.parse` takes the last one, and RFC 8785 (section 3.1, I-JSON) allows none. */
export function hasDoubleNames(text: string, value: unknown): boolean {
  // A text that serialises back to itself has lost nothing: true of what most programs write, and several times faster.
  if (JSON.stringify(value) === text) return false;
  const counter = new JsonCounter(UNLIMITED);
  counter.feed(Buffer.from(text));
  return counter.members !== countMembers(value);
}

const none = Number.POSITIVE_INFINITY;
const UNLIMITED = { bytes: none, depth: none, containers: none, members: none, objectMembers: none, values: none };

/** The total number of members of all objects in a parsed value: fewer than in its text when one is duplicate. */
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

/** Maximum number of levels of nested objects and lists: writing JSON takes a stack frame for each, and no message has a tenth of them. */
export const MAX_DEPTH = 100;

/** Why a value from `JSON.parse` cannot be written as it was read, or `undefined`. @param levels maximum levels of objects and lists */
export function unwritable(value: unknown, levels = MAX_DEPTH): string | undefined {
  // Parsed as infinite, and would be written as `null`.
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

/** Parses bytes that a `JsonCounter` has counted. @throws {UntrustedJsonError} `not-utf8`, `not-json` */
export function parseCounted(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new UntrustedJsonError('not-utf8', 'is not UTF-8');
  return parse(new TextDecoder().decode(bytes));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new UntrustedJsonError('not-json', 'is not JSON');
  }
}
