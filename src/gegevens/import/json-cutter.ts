/**
 * Cuts a message of the exchange model into the texts of its items while it streams through. The text around them, the skeleton,
 * is handed over too. Only structure is read: whether a text is JSON is up to the parser of it.
 */

import type { ItemList, Mapping } from '../model/mapping.ts';
import { type CapturedItem, CutError, ItemCapture, MAX_DEPTH, type Skeleton, SkeletonBuilder } from './item-capture.ts';

interface CutHandler {
  /** @param levering index of the levering, from 0; @param index of the item in its list, from 0 */
  item(levering: number, list: ItemList, index: number, item: CapturedItem): void;
  levering(levering: number, skeleton: Skeleton): void;
}

const MAX_SKELETON_BYTES = 1024 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const NEWLINE = 0x0a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface ObjectFrame {
  readonly kind: 'object';
  readonly node: PlanNode | undefined;
  expectKey: boolean;
  member: PlanNode | undefined;
}
/** A list that is read item by item, and what may follow in it. */
interface CutFrame {
  readonly kind: 'cut';
  readonly list: 'leveringen' | ItemList;
  state: 'first' | 'after-item' | 'after-comma';
}
type Frame = ObjectFrame | CutFrame | { readonly kind: 'list' };

export class JsonCutter {
  readonly #plan: CutPlan;
  readonly #handler: CutHandler;
  readonly #frames: Frame[] = [];
  readonly #envelop = new SkeletonBuilder(1, MAX_SKELETON_BYTES);
  #levering: SkeletonBuilder | undefined;
  #leveringen = 0;
  #counts: Record<ItemList, number> = { records: 0, zaken: 0 };
  #capture: ItemCapture | undefined;
  #line = 1;
  #string: 'none' | 'open' | 'escaped' = 'none';
  /** Bytes of the member name being read, where names matter. */
  #name: number[] | undefined;
  #ended = false;

  constructor(plan: CutPlan, handler: CutHandler) {
    this.#plan = plan;
    this.#handler = handler;
  }

  /** The line that is being read. */
  get line(): number {
    return this.#capture?.line ?? this.#line;
  }

  /** Takes the next bytes of the file. @throws {CutError} */
  feed(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const frame = this.#frames.at(-1);
      if (this.#capture !== undefined) at = this.#readItem(chunk, at, this.#capture);
      else if (frame?.kind === 'cut') at = this.#readList(chunk, at, frame);
      else at = this.#readSkeleton(chunk, at);
    }
  }

  /** Ends the file. @returns the message without its leveringen. @throws {CutError} when something is still open */
  finish(): Skeleton {
    if (!this.#ended) throw new CutError('the file ends too early', this.line);
    return this.#envelop.finish();
  }

  #readItem(chunk: Buffer, from: number, capture: ItemCapture): number {
    const end = capture.scan(chunk, from);
    if (end === -1) return chunk.length;
    this.#capture = undefined;
    this.#line = capture.line;
    const item = capture.item();
    const frame = this.#frames.at(-1);
    if (frame?.kind !== 'cut') throw new TypeError('an item outside a list');
    frame.state = 'after-item';
    if (frame.list === 'leveringen') {
      // Not an object: there is nothing to cut, and the check by the model will report it.
      const whole = new SkeletonBuilder(item.line, MAX_SKELETON_BYTES);
      this.#add(whole, item.bytes);
      this.#endLevering(whole);
    } else {
      const index = this.#counts[frame.list];
      this.#counts[frame.list] = index + 1;
      this.#handler.item(this.#leveringen, frame.list, index, item);
    }
    return end;
  }

  #readList(chunk: Buffer, from: number, frame: CutFrame): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) this.#line += 1;
      if (byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09) continue;
      if (byte === CLOSE_LIST) {
        if (frame.state === 'after-comma') throw this.#unexpected(byte);
        this.#frames.pop();
        this.#builder().resume(this.#line);
        this.#add(this.#builder(), chunk.subarray(at, at + 1));
        return at + 1;
      }
      if (byte === COMMA) {
        if (frame.state !== 'after-item') throw this.#unexpected(byte);
        frame.state = 'after-comma';
        continue;
      }
      if (frame.state === 'after-item') throw this.#unexpected(byte);
      if (frame.list === 'leveringen' && byte === OPEN_OBJECT) {
        frame.state = 'after-item';
        this.#levering = new SkeletonBuilder(this.#line, MAX_SKELETON_BYTES);
        this.#frames.push(openObject(this.#plan.levering));
        this.#add(this.#levering, chunk.subarray(at, at + 1));
        return at + 1;
      }
      this.#capture = new ItemCapture(byte, this.#line);
      return at;
    }
    return chunk.length;
  }

  /** Reads skeleton until a list begins that is cut, or the levering ends. */
  #readSkeleton(chunk: Buffer, from: number): number {
    const builder = this.#builder();
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === NEWLINE) this.#line += 1;
      if (this.#string !== 'none') this.#readString(byte);
      else if (this.#structure(byte)) {
        this.#add(builder, chunk.subarray(from, at + 1));
        if (builder === this.#levering && this.#frames.at(-1)?.kind === 'cut' && byte === CLOSE_OBJECT) {
          this.#endLevering(builder);
        }
        return at + 1;
      }
    }
    this.#add(builder, chunk.subarray(from));
    return chunk.length;
  }

  /** @returns true when another way of reading begins after this byte */
  #structure(byte: number): boolean {
    const frame = this.#frames.at(-1);
    switch (byte) {
      case QUOTE:
        this.#string = 'open';
        if (frame?.kind === 'object' && frame.expectKey && frame.node !== undefined) this.#name = [byte];
        break;
      case COMMA:
        if (frame?.kind === 'object') {
          frame.expectKey = true;
          frame.member = undefined;
        }
        break;
      case COLON:
        if (frame?.kind === 'object') frame.expectKey = false;
        break;
      case OPEN_OBJECT:
        if (frame === undefined && this.#ended) throw this.#unexpected(byte);
        this.#open(openObject(frame === undefined ? this.#plan.envelop : memberOf(frame)));
        break;
      case OPEN_LIST: {
        if (frame === undefined && this.#ended) throw this.#unexpected(byte);
        const list = frame === undefined ? undefined : memberOf(frame)?.list;
        this.#open(list === undefined ? { kind: 'list' } : { kind: 'cut', list, state: 'first' });
        return list !== undefined;
      }
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        if (frame?.kind !== (byte === CLOSE_OBJECT ? 'object' : 'list')) throw this.#unexpected(byte);
        this.#frames.pop();
        if (this.#frames.length === 0) this.#ended = true;
        return this.#frames.at(-1)?.kind === 'cut';
      default:
        if (frame === undefined && byte > 0x20) throw this.#unexpected(byte);
    }
    return false;
  }

  #open(frame: Frame): void {
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
        frame.member = frame.node?.children.get(nameOf(this.#name));
      this.#name = undefined;
    }
  }

  #builder(): SkeletonBuilder {
    return this.#levering ?? this.#envelop;
  }

  #endLevering(builder: SkeletonBuilder): void {
    this.#handler.levering(this.#leveringen, builder.finish());
    this.#levering = undefined;
    this.#leveringen += 1;
    this.#counts = { records: 0, zaken: 0 };
  }

  #add(builder: SkeletonBuilder, bytes: Buffer): void {
    if (builder.add(bytes)) return;
    const what = `more than ${MAX_SKELETON_BYTES} bytes that are no records: is this a file of this variant?`;
    throw new CutError(what, this.#line);
  }

  #unexpected(byte: number): CutError {
    const shown = byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;
    return new CutError(`unexpected ${shown}`, this.#line);
  }
}

function openObject(node: PlanNode | undefined): ObjectFrame {
  return { kind: 'object', node, expectKey: true, member: undefined };
}

function memberOf(frame: Frame): PlanNode | undefined {
  return frame.kind === 'object' && !frame.expectKey ? frame.member : undefined;
}

/** A member's name with its escapes resolved; a name that is not JSON matches no list. */
function nameOf(quoted: readonly number[]): string {
  try {
    return String(JSON.parse(Buffer.from(quoted).toString()));
  } catch {
    return '';
  }
}

/** A member on the path to a list. */
interface PlanNode {
  readonly children: ReadonlyMap<string, PlanNode>;
  /** Set when the member is one of the lists. */
  readonly list: 'leveringen' | ItemList | undefined;
}

interface CutPlan {
  readonly envelop: PlanNode;
  readonly levering: PlanNode;
}

interface PlanNodeDraft {
  readonly children: Map<string, PlanNodeDraft>;
  list: PlanNode['list'];
}

/** The paths in a message to the lists that are read item by item. */
export function cutPlan({ envelop, levering }: Mapping): CutPlan {
  const outer = emptyNode();
  addList(outer, envelop.leveringen, 'leveringen');
  const inner = emptyNode();
  addList(inner, levering.records, 'records');
  if (levering.zaken !== undefined) addList(inner, levering.zaken.lijst, 'zaken');
  return { envelop: outer, levering: inner };
}

function emptyNode(): PlanNodeDraft {
  return { children: new Map(), list: undefined };
}

function addList(root: PlanNodeDraft, steps: readonly string[], list: PlanNode['list']): void {
  let node = root;
  for (const step of steps) {
    let child = node.children.get(step);
    if (child === undefined) {
      child = emptyNode();
      node.children.set(step, child);
    }
    node = child;
  }
  node.list = list;
}
