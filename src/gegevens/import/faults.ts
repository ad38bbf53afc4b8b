import type { ErrorObject } from 'ajv';
import { isRecord } from '../../lib/json/json-value.ts';

/** One thing that is wrong with a file. Values are never repeated: they may be personal. */
export interface ImportFault {
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** Reading stops at this number of faults. */
export const MAX_FAULTS = 100;

/** Reading has stopped: there are enough faults, or the rest cannot be understood. */
export class ImportStopped extends Error {}

/** The faults of one file, in the order of the file. */
export class Faults {
  readonly list: ImportFault[] = [];
  readonly #most: number;

  constructor(most = MAX_FAULTS) {
    this.#most = most;
  }

  /** @throws {ImportStopped} when there are enough */
  add(fault: ImportFault): void {
    this.list.push(fault);
    if (this.list.length >= this.#most) throw new ImportStopped();
  }

  /** Adds a fault after which the rest of the file cannot be understood. @throws {ImportStopped} always */
  stop(fault: ImportFault): never {
    this.list.push(fault);
    throw new ImportStopped();
  }
}

/** The message of a validator, with the unknown member or the allowed values. */
export function describeError({ message = 'is not valid', params }: ErrorObject): string {
  if (!isRecord(params)) return message;
  const { additionalProperty, unevaluatedProperty, allowedValues } = params;
  const unknown = additionalProperty ?? unevaluatedProperty;
  if (typeof unknown === 'string') return `has a member that the model does not know: ${JSON.stringify(unknown)}`;
  if (Array.isArray(allowedValues))
    return `must be one of ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
  return message;
}

/** A JSON text that is not JSON, or has a member twice; `offset` is where. */
export class JsonTextError extends Error {
  readonly offset: number;
  /** True for a member that occurs twice; else the text is not JSON. */
  readonly isDuplicate: boolean;
  constructor(message: string, offset: number, twice = false) {
    super(message);
    this.name = 'JsonTextError';
    this.offset = offset;
    this.isDuplicate = twice;
  }
}

const WHITE = /[ \t\n\r]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const MAX_DEPTH = 200;

/**
 * Where the values at some pointers begin in a JSON text. Slow and strict: only for texts with a fault, to say where it is. A text may have
 * as many values as half of its bytes, so nothing is kept of the others.
 * @throws {JsonTextError} at the first character that is not JSON, and at a member that its object already has
 */
export function locateValues(text: string, pointers: readonly string[] = []): ReadonlyMap<string, number> {
  const wanted = emptyPlace();
  const ends = new Map(pointers.map((pointer) => [pointer, addPlace(wanted, pointer)]));
  const reader = new ValueLocator(text);
  reader.value(wanted, 0);
  reader.end();
  return new Map([...ends].flatMap(([pointer, { offset }]) => (offset === undefined ? [] : [[pointer, offset]])));
}

/** A value that is looked for, or one that holds such a value. */
interface Place {
  readonly children: Map<string, Place>;
  offset: number | undefined;
}

function emptyPlace(): Place {
  return { children: new Map(), offset: undefined };
}

function addPlace(root: Place, pointer: string): Place {
  let place = root;
  for (const step of pointer.split('/').slice(1)) {
    const child = place.children.get(step) ?? emptyPlace();
    place.children.set(step, child);
    place = child;
  }
  return place;
}

class ValueLocator {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  end(): void {
    this.#skip(WHITE);
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  value(place: Place | undefined, depth: number): void {
    if (depth > MAX_DEPTH) throw new JsonTextError('nested too deeply', this.#at);
    this.#skip(WHITE);
    if (place !== undefined) place.offset = this.#at;
    const first = this.#text[this.#at];
    if (first === '{') this.#object(place, depth);
    else if (first === '[') this.#list(place, depth);
    else if (!(this.#string() || this.#skip(NUMBER) || this.#skip(WORD))) throw this.#unexpected();
  }

  #object(place: Place | undefined, depth: number): void {
    this.#at += 1;
    if (this.#take('}')) return;
    const names = new Set<string>();
    do {
      this.#skip(WHITE);
      const start = this.#at;
      if (!this.#string()) throw this.#unexpected();
      const name = String(JSON.parse(this.#text.slice(start, this.#at)));
      if (names.has(name)) throw new JsonTextError(`member ${JSON.stringify(name)} occurs twice`, start, true);
      names.add(name);
      if (!this.#take(':')) throw this.#unexpected();
      this.value(place?.children.get(name.replaceAll('~', '~0').replaceAll('/', '~1')), depth + 1);
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#unexpected();
  }

  #list(place: Place | undefined, depth: number): void {
    this.#at += 1;
    if (this.#take(']')) return;
    let index = 0;
    do {
      this.value(place?.children.get(String(index)), depth + 1);
      index += 1;
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#unexpected();
  }

  #string(): boolean {
    if (this.#text[this.#at] !== '"') return false;
    this.#at += 1;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      // NaN at the end of the text; control characters must be escaped.
      if (Number.isNaN(code) || code < 0x20) throw this.#unexpected();
      if (code === 0x5c) {
        if (!this.#skip(ESCAPE)) throw this.#unexpected();
      } else {
        this.#at += 1;
        if (code === 0x22) return true;
      }
    }
  }

  #take(character: string): boolean {
    this.#skip(WHITE);
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #unexpected(): JsonTextError {
    const found = this.#text[this.#at];
    // The character itself may be part of a person's data; only structure is shown.
    const shown = found === undefined ? 'end of text' : /[{}[\],:"]/.test(found) ? `'${found}'` : 'character';
    return new JsonTextError(`not JSON: unexpected ${shown}`, this.#at);
  }
}
