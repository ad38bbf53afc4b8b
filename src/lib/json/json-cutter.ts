/**
 * Cuts a large JSON text into the items of its lists while it streams through: of one outer list, and in its items of inner lists. The text around
 * them, a skeleton, is handed over too. Only structure is read: whether a text is JSON is left to its parser.
 */
import { isUtf8 } from 'node:buffer';
import { MAX_DEPTH } from './parse-untrusted.ts';

export class CutError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.name = 'CutError';
    this.line = line;
  }
}

/** One item, as written. The bytes are valid only until the next ones are read. */
export interface CutItem {
  readonly bytes: Buffer;
  readonly line: number;
  /** Colons outside strings: as many as the text has members, when it is JSON. */
  readonly colons: number;
}

interface CutHandler<List> {
  item(outer: number, list: List, index: number, item: CutItem): void;
  outer(index: number, skeleton: Skeleton): void;
}

/** The lists that are cut, as JSON Pointers: one in the whole text, and those in each of its items. */
interface CutLists<List> {
  readonly outer: string;
  readonly inner: ReadonlyMap<string, List>;
}

/** A validator may find a fault in every second byte of an item, each taking some hundred bytes. */
const MAX_ITEM_BYTES = 1024 * 1024;
const MAX_SKELETON_BYTES = 1024 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface ObjectFrame {
  readonly kind: 'object';
  /** Its pointer from the nearest skeleton; undefined within a list that is not cut. */
  readonly pointer: string | undefined;
  expectKey: boolean;
  member: string | undefined;
}
interface CutFrame<List> {
  readonly kind: 'cut';
  readonly list: List | undefined;
  state: 'first' | 'after-item' | 'after-comma';
}
type Frame<List> = ObjectFrame | CutFrame<List> | { readonly kind: 'list' };

export class JsonCutter<List extends string> {
  readonly #lists: CutLists<List>;
  readonly #handler: CutHandler<List>;
  readonly #frames: Frame<List>[] = [];
  readonly #whole = new Skeleton(1);
  #outer: Skeleton | undefined;
  #index = 0;
  #counts = new Map<List, number>();
  #item: ItemScanner | undefined;
  #line = 1;
  #string: 'none' | 'open' | 'escaped' = 'none';
  /** Bytes of the member name that is being read, where names matter. */
  #name: number[] | undefined;
  #ended = false;

  constructor(lists: CutLists<List>, handler: CutHandler<List>) {
    this.#lists = lists;
    this.#handler = handler;
  }

  feed(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const frame = this.#frames.at(-1);
      if (frame?.kind !== 'cut') at = this.#readSkeleton(chunk, at);
      else if (this.#item === undefined) at = this.#readList(chunk, at, frame);
      else at = this.#readItem(chunk, at, frame, this.#item);
    }
  }

  /** @returns the text without the items of the outer list. @throws {CutError} when something is still open */
  finish(): Skeleton {
    if (!this.#ended) throw new CutError('the file ends too early', this.#item?.line ?? this.#line);
    return this.#whole.close();
  }

  #readItem(chunk: Buffer, from: number, frame: CutFrame<List>, scanner: ItemScanner): number {
    const end = scanner.scan(chunk, from);
    if (end === -1) return chunk.length;
    this.#item = undefined;
    this.#line = scanner.line;
    const item = scanner.item();
    frame.state = 'after-item';
    if (frame.list === undefined) {
      // Not an object, so there is nothing to cut in it.
      const skeleton = new Skeleton(item.line);
      skeleton.add(item.bytes);
      this.#endOuter(skeleton);
    } else {
      const index = this.#counts.get(frame.list) ?? 0;
      this.#counts.set(frame.list, index + 1);
      this.#handler.item(this.#index, frame.list, index, item);
    }
    return end;
  }

  #readList(chunk: Buffer, from: number, frame: CutFrame<List>): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) this.#line += 1;
      if (byte === SPACE || byte === NEWLINE || byte === 0x0d || byte === 0x09) continue;
      if (byte === CLOSE_LIST) {
        if (frame.state === 'after-comma') throw this.#unexpected(byte);
        this.#frames.pop();
        this.#skeleton.resume(this.#line);
        this.#skeleton.add(chunk.subarray(at, at + 1));
        return at + 1;
      }
      if (byte === COMMA) {
        if (frame.state !== 'after-item') throw this.#unexpected(byte);
        frame.state = 'after-comma';
        continue;
      }
      if (frame.state === 'after-item') throw this.#unexpected(byte);
      if (frame.list === undefined && byte === OPEN_OBJECT) {
        frame.state = 'after-item';
        this.#outer = new Skeleton(this.#line);
        this.#frames.push({ kind: 'object', pointer: '', expectKey: true, member: undefined });
        this.#outer.add(chunk.subarray(at, at + 1));
        return at + 1;
      }
      this.#item = new ItemScanner(byte, this.#line);
      return at;
    }
    return chunk.length;
  }

  #readSkeleton(chunk: Buffer, from: number): number {
    const skeleton = this.#skeleton;
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) this.#line += 1;
      if (this.#string !== 'none') this.#readString(byte);
      else if (this.#readStructure(byte)) {
        skeleton.add(chunk.subarray(from, at + 1));
        if (skeleton === this.#outer && byte === CLOSE_OBJECT) this.#endOuter(skeleton);
        return at + 1;
      }
    }
    skeleton.add(chunk.subarray(from));
    return chunk.length;
  }

  /** @returns whether a cut list, or the outer list, follows this byte */
  #readStructure(byte: number): boolean {
    const frame = this.#frames.at(-1);
    if (frame === undefined && byte > SPACE && (this.#ended || (byte !== OPEN_OBJECT && byte !== OPEN_LIST)))
      throw this.#unexpected(byte);
    const pointer = frame === undefined ? '' : frame.kind === 'object' ? frame.member : undefined;
    if (byte === QUOTE) {
      this.#string = 'open';
      if (frame?.kind === 'object' && frame.expectKey && frame.pointer !== undefined) this.#name = [byte];
    } else if (byte === COMMA && frame?.kind === 'object') {
      frame.expectKey = true;
      frame.member = undefined;
    } else if (byte === COLON && frame?.kind === 'object') frame.expectKey = false;
    else if (byte === OPEN_OBJECT) this.#open({ kind: 'object', pointer, expectKey: true, member: undefined });
    else if (byte === OPEN_LIST) {
      const isOuter = this.#outer === undefined && pointer === this.#lists.outer;
      const list = this.#outer === undefined ? undefined : this.#lists.inner.get(pointer ?? '');
      const isCut = isOuter || list !== undefined;
      this.#open(isCut ? { kind: 'cut', list, state: 'first' } : { kind: 'list' });
      return isCut;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (frame?.kind !== (byte === CLOSE_OBJECT ? 'object' : 'list')) throw this.#unexpected(byte);
      this.#frames.pop();
      this.#ended = this.#frames.length === 0;
      return this.#frames.at(-1)?.kind === 'cut';
    }
    return false;
  }

  #open(frame: Frame<List>): void {
    if (this.#frames.length >= MAX_DEPTH) throw new CutError(`more than ${MAX_DEPTH} levels deep`, this.#line);
    this.#frames.push(frame);
  }

  #readString(byte: number): void {
    this.#name?.push(byte);
    if (this.#string === 'escaped') this.#string = 'open';
    else if (byte === BACKSLASH) this.#string = 'escaped';
    else if (byte === QUOTE) {
      this.#string = 'none';
      const frame = this.#frames.at(-1);
      if (this.#name !== undefined && frame?.kind === 'object')
        frame.member = `${frame.pointer}/${pointerStep(Buffer.from(this.#name).toString())}`;
      this.#name = undefined;
    }
  }

  get #skeleton(): Skeleton {
    return this.#outer ?? this.#whole;
  }

  #endOuter(skeleton: Skeleton): void {
    this.#handler.outer(this.#index, skeleton.close());
    this.#outer = undefined;
    this.#index += 1;
    this.#counts = new Map();
  }

  #unexpected(byte: number): CutError {
    const shown = byte > SPACE && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;
    return new CutError(`unexpected ${shown}`, this.#line);
  }
}

/** A member's name as a step of a pointer, its escapes resolved; a name that is not JSON gives no step. */
function pointerStep(quoted: string): string {
  try {
    return String(JSON.parse(quoted)).replaceAll('~', '~0').replaceAll('/', '~1');
  } catch {
    return '~';
  }
}

/** Finds the end of an item that may span chunks. The hot loop of an import. */
class ItemScanner {
  line: number;
  readonly #firstLine: number;
  readonly #isScalar: boolean;
  #parts: Buffer[] = [];
  #bytes = 0;
  #depth = 0;
  #colons = 0;
  #inString = false;
  #escaped = false;

  constructor(firstByte: number, line: number) {
    this.line = line;
    this.#firstLine = line;
    this.#isScalar = firstByte !== OPEN_OBJECT && firstByte !== OPEN_LIST && firstByte !== QUOTE;
  }

  /** @returns the offset after the item, or -1 when it continues in the next chunk */
  scan(chunk: Buffer, from: number): number {
    const end = this.#isScalar ? scalarEnd(chunk, from) : this.#scanNested(chunk, from);
    const part = chunk.subarray(from, end === -1 ? chunk.length : end);
    this.#bytes += part.length;
    if (this.#bytes > MAX_ITEM_BYTES)
      throw new CutError(`a record larger than ${MAX_ITEM_BYTES} bytes`, this.#firstLine);
    // The chunk is overwritten before the item ends.
    this.#parts.push(end === -1 ? Buffer.from(part) : part);
    return end;
  }

  item(): CutItem {
    const [only] = this.#parts;
    const bytes = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    return { bytes, line: this.#firstLine, colons: this.#colons };
  }

  #scanNested(chunk: Buffer, from: number): number {
    const length = chunk.length;
    let depth = this.#depth;
    let colons = this.#colons;
    let line = this.line;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let end = -1;
    for (let at = from; at < length && end === -1; at += 1) {
      const byte = chunk[at] ?? 0;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) {
          inString = false;
          if (depth === 0) end = at + 1;
        }
      } else if (byte === QUOTE) inString = true;
      else if (byte === COLON) colons += 1;
      else if (byte === NEWLINE) line += 1;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        depth += 1;
        if (depth > MAX_DEPTH) throw new CutError(`more than ${MAX_DEPTH} levels deep`, line);
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        depth -= 1;
        if (depth === 0) end = at + 1;
      }
    }
    this.#depth = depth;
    this.#colons = colons;
    this.line = line;
    this.#inString = inString;
    this.#escaped = escaped;
    return end;
  }
}

/** A number or word ends at white space, a comma, or a closing bracket of either kind. */
function scalarEnd(chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at += 1) {
    const byte = chunk[at] ?? 0;
    if (byte <= SPACE || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT) return at;
  }
  return -1;
}

/** Text from which lists were cut, with the line of each of its characters in the whole. */
export class Skeleton {
  isUtf8 = true;
  /** The text between two cuts, with the line on which it begins. */
  readonly #stretches: { readonly text: string; readonly line: number }[] = [];
  #open: Buffer[] = [];
  #line: number;
  #bytes = 0;

  constructor(line: number) {
    this.#line = line;
  }

  /** @param bytes may be overwritten afterwards. @throws {CutError} when the text becomes unreasonably large */
  add(bytes: Buffer): void {
    this.#open.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    if (this.#bytes <= MAX_SKELETON_BYTES) return;
    const what = `more than ${MAX_SKELETON_BYTES} bytes outside records: is this a file of this variant?`;
    throw new CutError(what, this.#line);
  }

  resume(line: number): void {
    this.close();
    this.#line = line;
  }

  close(): this {
    const bytes = Buffer.concat(this.#open);
    // A stretch begins and ends at a bracket, so it never splits a character.
    this.isUtf8 &&= isUtf8(bytes);
    this.#stretches.push({ text: bytes.toString(), line: this.#line });
    this.#open = [];
    return this;
  }

  get text(): string {
    return this.#stretches.map(({ text }) => text).join('');
  }

  lineAt(offset: number): number {
    let start = 0;
    let line = this.#stretches[0]?.line ?? 1;
    for (const stretch of this.#stretches) {
      const within = offset - start;
      line = stretch.line + newlines(stretch.text.slice(0, within));
      if (within < stretch.text.length) break;
      start += stretch.text.length;
    }
    return line;
  }
}

export function newlines(text: string): number {
  return text.split('\n').length - 1;
}
