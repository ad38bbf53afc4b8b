/**
 * The Merkle tree of RFC 6962 section 2.1 (RFC 9162 section 2.1): hashes, roots, proofs, and a frontier that grows a tree with few reads.
 * Whoever calls says where the hashes of complete subtrees are kept (`ReadHashes`).
 */
import { hash } from 'node:crypto';

/** Bytes of a hash. */
export const HASH_BYTES = 32;

/** Root of the tree without leaves: the hash of nothing (RFC 6962 section 2.1). */
export const EMPTY_ROOT: Uint8Array = hash('sha256', '', 'buffer');

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/** The hash of a complete subtree: of the leaves `index * 2 ** level` up to `(index + 1) * 2 ** level`. Level 0 holds the leaves. */
export interface StoredHash {
  readonly level: number;
  readonly index: number;
}

/** Reads hashes of complete subtrees, in the order asked; rejects when it does not have one. */
export type ReadHashes = (hashes: readonly StoredHash[]) => Promise<readonly Uint8Array[]>;

/** SHA-256(0x00 ‖ entry). */
export function leafHash(entry: Uint8Array): Uint8Array {
  return hash('sha256', Buffer.concat([LEAF_PREFIX, entry]), 'buffer');
}

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return hash('sha256', Buffer.concat([NODE_PREFIX, left, right]), 'buffer');
}

/** Root of the first `size` leaves. */
export async function rootHash(size: number, read: ReadHashes): Promise<Uint8Array> {
  assertSize(size);
  if (size === 0) return EMPTY_ROOT;
  return joined(await readAll(read, completeSubtrees({ low: 0, high: size })));
}

/**
 * The audit path of RFC 6962 section 2.1.1, from the leaf's sibling up.
 * @throws {RangeError} when the leaf is not in the tree
 */
export async function proveInclusion(index: number, size: number, read: ReadHashes): Promise<Uint8Array[]> {
  assertSize(size);
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) throw new RangeError('the leaf is not in the tree');
  const siblings: Range[] = [];
  for (let low = 0, high = size; high - low > 1; ) {
    const middle = low + powerBelow(high - low);
    siblings.unshift(index < middle ? { low: middle, high } : { low, high: middle });
    if (index < middle) high = middle;
    else low = middle;
  }
  return await hashesOf(siblings, read);
}

/** Whether a path proves that `leaf` is the hash of leaf `index` in the tree with this size and root (RFC 9162 section 2.1.3.2). */
export function verifyInclusion(claim: {
  readonly index: number;
  readonly size: number;
  readonly leaf: Uint8Array;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}): boolean {
  const { index, size, leaf, root, proof } = claim;
  if (!isSize(size) || !isSize(index) || index >= size || !areHashes([leaf, root, ...proof])) return false;
  let [position, last, found] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      found = nodeHash(sibling, found);
      while (position % 2 === 0 && position > 0) [position, last] = [half(position), half(last)];
    } else found = nodeHash(found, sibling);
    [position, last] = [half(position), half(last)];
  }
  return last === 0 && isSame(found, root);
}

/**
 * The consistency proof of RFC 6962 section 2.1.2. It is empty when the sizes are equal, and from size 0: the empty tree is part of any tree.
 * @throws {RangeError} when the old tree is larger
 */
export async function proveConsistency(oldSize: number, newSize: number, read: ReadHashes): Promise<Uint8Array[]> {
  assertSize(oldSize);
  assertSize(newSize);
  if (oldSize > newSize) throw new RangeError('the old tree is larger than the new one');
  if (oldSize === 0) return [];
  const parts: Range[] = [];
  let [low, high] = [0, newSize];
  while (high > oldSize) {
    const middle = low + powerBelow(high - low);
    parts.unshift(oldSize <= middle ? { low: middle, high } : { low, high: middle });
    if (oldSize <= middle) high = middle;
    else low = middle;
  }
  // The verifier knows the old root, so it is in the proof only where it is not the whole left side.
  if (low > 0) parts.unshift({ low, high });
  return await hashesOf(parts, read);
}

/** Whether a proof shows that the tree of the old size and root is the beginning of the new one (RFC 9162 section 2.1.4.2). */
export function verifyConsistency(claim: {
  readonly oldSize: number;
  readonly oldRoot: Uint8Array;
  readonly newSize: number;
  readonly newRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}): boolean {
  const { oldSize, oldRoot, newSize, newRoot, proof } = claim;
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize) return false;
  if (!areHashes([oldRoot, newRoot, ...proof])) return false;
  if (oldSize === newSize) return proof.length === 0 && isSame(oldRoot, newRoot);
  if (oldSize === 0) return proof.length === 0 && isSame(oldRoot, EMPTY_ROOT);
  let [position, last] = [oldSize - 1, newSize - 1];
  while (position % 2 === 1) [position, last] = [half(position), half(last)];
  const [seed, ...path] = position === 0 ? [oldRoot, ...proof] : proof;
  if (seed === undefined) return false;
  let [foundOld, foundNew] = [seed, seed];
  for (const sibling of path) {
    if (last === 0) return false;
    if (position % 2 === 1 || position === last) {
      foundOld = nodeHash(sibling, foundOld);
      foundNew = nodeHash(sibling, foundNew);
      while (position % 2 === 0 && position > 0) [position, last] = [half(position), half(last)];
    } else foundNew = nodeHash(foundNew, sibling);
    [position, last] = [half(position), half(last)];
  }
  return last === 0 && isSame(foundOld, oldRoot) && isSame(foundNew, newRoot);
}

/** The right edge of a tree: enough to append leaves and to know the root. */
export class Frontier {
  /** Roots of the complete subtrees from left to right, as many as the size has bits set. */
  readonly #roots: { readonly level: number; readonly hash: Uint8Array }[];
  #size: number;

  private constructor(size: number, roots: { level: number; hash: Uint8Array }[]) {
    this.#size = size;
    this.#roots = roots;
  }

  /** The edge of the tree with `size` leaves; reads one hash for each bit set in the size. */
  static async load(size: number, read: ReadHashes): Promise<Frontier> {
    assertSize(size);
    const subtrees = completeSubtrees({ low: 0, high: size });
    const hashes = await readAll(read, subtrees);
    return new Frontier(
      size,
      subtrees.flatMap(({ level }, place) => {
        const found = hashes[place];
        return found === undefined ? [] : [{ level, hash: found }];
      }),
    );
  }

  get size(): number {
    return this.#size;
  }

  /** Appends a leaf; returns the hashes that are complete now: the leaf's own and of each subtree that it fills. */
  append(leaf: Uint8Array): (StoredHash & { readonly hash: Uint8Array })[] {
    if (!areHashes([leaf])) throw new TypeError('a leaf hash has 32 bytes');
    const complete = [{ level: 0, index: this.#size, hash: leaf }];
    let [level, index, right] = [0, this.#size, leaf];
    for (let left = this.#roots.at(-1); left?.level === level; left = this.#roots.at(-1)) {
      this.#roots.pop();
      [level, index, right] = [level + 1, half(index), nodeHash(left.hash, right)];
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

/** Leaves from `low` up to and without `high`. */
interface Range {
  readonly low: number;
  readonly high: number;
}

/** The complete subtrees of a range, left to right. `low` is a multiple of the power of two that fits, as in every proof. */
function completeSubtrees({ low, high }: Range): StoredHash[] {
  const subtrees: StoredHash[] = [];
  for (let from = low; from < high; ) {
    const level = levelOf(high - from);
    subtrees.push({ level, index: from / 2 ** level });
    from += 2 ** level;
  }
  return subtrees;
}

/** The hash of each range, all read at once. */
async function hashesOf(ranges: readonly Range[], read: ReadHashes): Promise<Uint8Array[]> {
  const subtrees = ranges.map(completeSubtrees);
  const hashes = await readAll(read, subtrees.flat());
  let next = 0;
  return subtrees.map(({ length }) => {
    next += length;
    return joined(hashes.slice(next - length, next));
  });
}

async function readAll(read: ReadHashes, wanted: readonly StoredHash[]): Promise<readonly Uint8Array[]> {
  if (wanted.length === 0) return [];
  const hashes = await read(wanted);
  if (hashes.length !== wanted.length || !areHashes(hashes)) throw new Error('the tree lacks a hash that it must have');
  return hashes;
}

/** One hash of neighbouring subtrees whose sizes go down from left to right. */
function joined(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** The largest power of two below a number from 2. */
function powerBelow(count: number): number {
  return 2 ** levelOf(count - 1);
}

/** The largest `level` with `2 ** level <= count`, for a count from 1 that may be over 32 bits. */
function levelOf(count: number): number {
  const high = Math.floor(count / 2 ** 32);
  return high > 0 ? 63 - Math.clz32(high) : 31 - Math.clz32(count);
}

function half(value: number): number {
  return Math.floor(value / 2);
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function assertSize(size: number): void {
  if (!isSize(size)) throw new RangeError('the size of a tree is a whole number from 0');
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every(({ length }) => length === HASH_BYTES);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
