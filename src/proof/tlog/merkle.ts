/** The Merkle tree of RFC 6962 section 2.1 (RFC 9162 section 2.1). The caller provides the hashes of complete subtrees (`ReadHashes`). */
import { hash } from 'node:crypto';

export const HASH_BYTES = 32;

export const EMPTY_ROOT: Uint8Array = hash('sha256', '', 'buffer');

export interface Tree {
  readonly size: number;
  readonly root: Uint8Array;
}

/** The hash of a complete subtree: of the leaves `index * 2 ** level` up to `(index + 1) * 2 ** level`. Level 0 holds the leaves. */
export interface StoredHash {
  readonly level: number;
  readonly index: number;
}

/** Reads hashes of complete subtrees, in the order requested; rejects when one is missing. */
export type ReadHashes = (hashes: readonly StoredHash[]) => Promise<readonly Uint8Array[]>;

/** SHA-256, through a string with one character per byte: `hash` takes three times as long when it returns a `Buffer`. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(hash('sha256', bytes, 'binary'), 'latin1');
}

export function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([LEAF, entry]));
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([NODE, left, right]));
}

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

export async function rootHash(size: number, read: ReadHashes): Promise<Uint8Array> {
  return (await Frontier.load(size, read)).root();
}

/** The audit path of RFC 6962 section 2.1.1, from the leaf's sibling up. @throws {RangeError} when the leaf is not in the tree */
export async function proveInclusion(index: number, size: number, read: ReadHashes): Promise<Uint8Array[]> {
  if (!isSize(index) || !isSize(size) || index >= size) throw new RangeError('the leaf is not in the tree');
  return await hashesOf(split(index, size, ({ low, high }) => high - low === 1).siblings, read);
}

/** RFC 6962 section 2.1.2: empty when the sizes are equal, and from size 0. @throws {RangeError} when the old tree is larger */
export async function proveConsistency(oldSize: number, newSize: number, read: ReadHashes): Promise<Uint8Array[]> {
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize)
    throw new RangeError('the old tree is larger than the new one');
  if (oldSize === 0) return [];
  const { whole, siblings } = split(oldSize - 1, newSize, ({ high }) => high === oldSize);
  // The verifier knows the old root, so the proof has it only where it is not the whole left side.
  return await hashesOf(whole.low > 0 ? [whole, ...siblings] : siblings, read);
}

export function verifyInclusion(index: number, leaf: Uint8Array, tree: Tree, path: readonly Uint8Array[]): boolean {
  if (!isSize(tree.size) || !isSize(index) || index >= tree.size || !areHashes([leaf, ...path])) return false;
  const { siblings } = split(index, tree.size, ({ low, high }) => high - low === 1);
  const isLeft = siblings.map(({ high }) => high <= index);
  return siblings.length === path.length && isSame(rootOver(leaf, path, isLeft), tree.root);
}

export function verifyConsistency(old: Tree, now: Tree, proof: readonly Uint8Array[]): boolean {
  if (!isSize(old.size) || !isSize(now.size) || old.size > now.size || !areHashes([old.root, ...proof])) return false;
  if (old.size === now.size) return proof.length === 0 && isSame(old.root, now.root);
  if (old.size === 0) return proof.length === 0 && isSame(old.root, EMPTY_ROOT);
  const { whole, siblings } = split(old.size - 1, now.size, ({ high }) => high === old.size);
  const [start, ...path] = whole.low > 0 ? proof : [old.root, ...proof];
  if (start === undefined || path.length !== siblings.length) return false;
  const isLeft = siblings.map(({ high }) => high < old.size);
  const oldRoot = path.reduce((own, other, place) => (isLeft[place] ? nodeHash(other, own) : own), start);
  return isSame(oldRoot, old.root) && isSame(rootOver(start, path, isLeft), now.root);
}

/** The right edge of a tree: enough to append leaves and to compute the root. */
export class Frontier {
  /** Roots of the complete subtrees from left to right, as many as the size has bits set. */
  #roots: { readonly level: number; readonly hash: Uint8Array }[] = [];
  #size = 0;

  /** The edge of the tree with `size` leaves; reads one hash for each bit set in the size. */
  static async load(size: number, read: ReadHashes): Promise<Frontier> {
    if (!isSize(size)) throw new RangeError('the size of a tree is a whole number from 0');
    const subtrees = completeSubtrees({ low: 0, high: size });
    const hashes = await readAll(read, subtrees);
    const frontier = new Frontier();
    frontier.#size = size;
    frontier.#roots = hashes.map((found, place) => ({ level: subtrees[place]?.level ?? 0, hash: found }));
    return frontier;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends a leaf; returns the hashes completed by it: its own and that of each subtree that it fills. */
  append(leaf: Uint8Array): (StoredHash & { readonly hash: Uint8Array })[] {
    if (!areHashes([leaf])) throw new TypeError('a leaf hash has 32 bytes');
    const complete = [{ level: 0, index: this.#size, hash: leaf }];
    let [level, index, right] = [0, this.#size, leaf];
    for (let left = this.#roots.at(-1); left?.level === level; left = this.#roots.at(-1)) {
      this.#roots.pop();
      [level, index, right] = [level + 1, Math.floor(index / 2), nodeHash(left.hash, right)];
      complete.push({ level, index, hash: right });
    }
    this.#roots.push({ level, hash: right });
    this.#size += 1;
    return complete;
  }

  root(): Uint8Array {
    return this.#size === 0 ? EMPTY_ROOT : joined(this.#roots.map((root) => root.hash));
  }
}

/** Without `high`. */
interface Range {
  readonly low: number;
  readonly high: number;
}

/** Splits a tree towards a leaf until `isDone`: the remaining range, and the ranges split off, the last first. */
function split(index: number, size: number, isDone: (range: Range) => boolean): { whole: Range; siblings: Range[] } {
  const siblings: Range[] = [];
  let whole: Range = { low: 0, high: size };
  while (!isDone(whole)) {
    const { low, high } = whole;
    const middle = low + 2 ** levelOf(high - low - 1);
    whole = index < middle ? { low, high: middle } : { low: middle, high };
    siblings.unshift(index < middle ? { low: middle, high } : { low, high: middle });
  }
  return { whole, siblings };
}

function rootOver(start: Uint8Array, path: readonly Uint8Array[], isLeft: readonly boolean[]): Uint8Array {
  return path.reduce((own, other, place) => (isLeft[place] ? nodeHash(other, own) : nodeHash(own, other)), start);
}

/** The complete subtrees of a range, left to right. `low` is a multiple of the power of two that fits, as in every proof. */
function completeSubtrees({ low, high }: Range): StoredHash[] {
  const subtrees: StoredHash[] = [];
  for (let from = low; from < high; from += 2 ** levelOf(high - from)) {
    const level = levelOf(high - from);
    subtrees.push({ level, index: from / 2 ** level });
  }
  return subtrees;
}

async function hashesOf(ranges: readonly Range[], read: ReadHashes): Promise<Uint8Array[]> {
  const subtrees = ranges.map(completeSubtrees);
  const hashes = [...(await readAll(read, subtrees.flat()))];
  return subtrees.map(({ length }) => joined(hashes.splice(0, length)));
}

async function readAll(read: ReadHashes, wanted: readonly StoredHash[]): Promise<readonly Uint8Array[]> {
  if (wanted.length === 0) return [];
  const hashes = await read(wanted);
  if (hashes.length !== wanted.length || !areHashes(hashes)) throw new Error('the tree lacks a hash that it must have');
  return hashes;
}

/** The hash over neighbouring subtrees whose sizes decrease from left to right. */
function joined(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** The largest `level` with `2 ** level <= count`, for a count from 1 that may be over 32 bits. */
function levelOf(count: number): number {
  const high = Math.floor(count / 2 ** 32);
  return high > 0 ? 63 - Math.clz32(high) : 31 - Math.clz32(count);
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every(({ length }) => length === HASH_BYTES);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
