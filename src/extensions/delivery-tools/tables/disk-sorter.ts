import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Entry {
  readonly key: string;
  readonly text: string;
}

interface InMemory {
  readonly key: string;
  /** Where its text is among those in memory. */
  readonly start: number;
  readonly end: number;
}

/** A sorted stretch of the file. */
interface Run {
  readonly start: number;
  readonly bytes: number;
}

export interface SorterLimits {
  /** How much is sorted in memory before it goes to disk. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
}

const LIMITS: SorterLimits = { memoryBytes: 8 * 1024 * 1024, diskBytes: 16 * 1024 ** 3 };
const READ_BYTES = 128 * 1024;
const WRITE_BYTES = 1024 * 1024;
/** What an entry costs in memory beside its text: its key and where its text stands. */
const ENTRY_BYTES = 96;
const START_BYTES = 64 * 1024;
const HEAD_BYTES = 8;

/** There is more to sort than there may be on disk. */
export class SorterFull extends Error {}

/**
 * Sorts texts by their keys in limited memory: sorted stretches go to a file, and are merged when they are read. The file is deleted as
 * soon as it is open, so that nothing of it stays, however the process ends. Entries with the same key keep their order.
 */
export class DiskSorter {
  readonly #limits: SorterLimits;
  #entries: InMemory[] = [];
  /** The texts in memory, one after the other: as strings they would take several times the space. */
  #texts = Buffer.allocUnsafeSlow(START_BYTES);
  #used = 0;
  #isSorted = true;
  #file: number | undefined;
  #runs: Run[] = [];
  #size = 0;

  constructor(limits: SorterLimits = LIMITS) {
    this.#limits = limits;
  }

  /** @throws {SorterFull} when the disk has had its share */
  add(key: string, text: string): void {
    // No character of a string takes more than three bytes.
    const needed = text.length * 3;
    const inMemory = this.#used + needed + this.#entries.length * ENTRY_BYTES;
    if (inMemory > this.#limits.memoryBytes) this.#spill();
    this.#reserve(needed);
    const last = this.#entries.at(-1);
    if (last !== undefined && key < last.key) this.#isSorted = false;
    const start = this.#used;
    this.#used += this.#texts.write(text, start);
    this.#entries.push({ key, start, end: this.#used });
  }

  /** All entries in the order of their keys. */
  *sorted(): Generator<Entry> {
    if (this.#file === undefined) {
      this.#sortEntries();
      for (const { key, start, end } of this.#entries) yield { key, text: this.#texts.toString('utf8', start, end) };
      return;
    }
    this.#spill();
    this.#texts = Buffer.alloc(0);
    const file = this.#file;
    const heap = new RunHeap();
    this.#runs.forEach((run, index) => {
      heap.push(new RunReader(file, run, index));
    });
    for (let reader = heap.first(); reader !== undefined; reader = heap.first()) {
      yield reader.entry;
      heap.advanceFirst();
    }
  }

  close(): void {
    this.#entries = [];
    this.#texts = Buffer.alloc(0);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#texts.length) return;
    const grown = Buffer.allocUnsafeSlow(
      Math.max(Math.min(this.#texts.length * 2, this.#limits.memoryBytes), this.#used + bytes),
    );
    this.#texts.copy(grown, 0, 0, this.#used);
    this.#texts = grown;
  }

  #sortEntries(): void {
    if (!this.#isSorted) this.#entries.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
    this.#isSorted = true;
  }

  #spill(): void {
    if (this.#entries.length === 0) return;
    this.#sortEntries();
    this.#file ??= openDeletedFile();
    const file = this.#file;
    const start = this.#size;
    let parts: Buffer[] = [];
    let bytes = 0;
    const write = (): void => {
      if (this.#size + bytes > this.#limits.diskBytes) throw new SorterFull();
      writeAll(file, Buffer.concat(parts), this.#size);
      this.#size += bytes;
      parts = [];
      bytes = 0;
    };
    for (const { key, start: from, end } of this.#entries) {
      const keyBytes = Buffer.byteLength(key);
      const head = Buffer.allocUnsafe(HEAD_BYTES + keyBytes);
      head.writeUInt32LE(keyBytes, 0);
      head.writeUInt32LE(end - from, 4);
      head.write(key, HEAD_BYTES);
      parts.push(head, this.#texts.subarray(from, end));
      bytes += head.length + end - from;
      if (bytes >= WRITE_BYTES) write();
    }
    write();
    this.#runs.push({ start, bytes: this.#size - start });
    this.#entries = [];
    this.#used = 0;
  }
}

function openDeletedFile(): number {
  const directory = mkdtempSync(join(tmpdir(), 'koppelvlak-'));
  try {
    return openSync(join(directory, 'sort'), 'wx+', 0o600);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function writeAll(file: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
}

/** Reads the entries of a run one by one. */
class RunReader {
  readonly index: number;
  entry: Entry = { key: '', text: '' };
  readonly #file: number;
  #position: number;
  readonly #end: number;
  #buffer = Buffer.alloc(0);
  #at = 0;

  constructor(file: number, { start, bytes }: Run, index: number) {
    this.#file = file;
    this.#position = start;
    this.#end = start + bytes;
    this.index = index;
    this.next();
  }

  /** @returns false at the end of the run */
  next(): boolean {
    if (this.#at === this.#buffer.length && this.#position === this.#end) return false;
    this.#need(HEAD_BYTES);
    const keyBytes = this.#buffer.readUInt32LE(this.#at);
    const textBytes = this.#buffer.readUInt32LE(this.#at + 4);
    this.#need(HEAD_BYTES + keyBytes + textBytes);
    const key = this.#at + HEAD_BYTES;
    const text = key + keyBytes;
    this.#at = text + textBytes;
    this.entry = { key: this.#buffer.toString('utf8', key, text), text: this.#buffer.toString('utf8', text, this.#at) };
    return true;
  }

  /** Sees to it that so many bytes are in the buffer. */
  #need(bytes: number): void {
    const rest = this.#buffer.length - this.#at;
    if (rest >= bytes) return;
    const more = Math.min(Math.max(READ_BYTES, bytes - rest), this.#end - this.#position);
    const grown = Buffer.allocUnsafe(rest + more);
    this.#buffer.copy(grown, 0, this.#at);
    for (let done = 0; done < more; ) {
      const got = readSync(this.#file, grown, rest + done, more - done, this.#position + done);
      if (got === 0) throw new Error('a temporary file is shorter than what was written to it');
      done += got;
    }
    this.#position += more;
    this.#buffer = grown;
    this.#at = 0;
  }
}

/** The readers of all runs; the first has the smallest key, of equal ones that of the earliest run. */
class RunHeap {
  readonly #readers: RunReader[] = [];

  first(): RunReader | undefined {
    return this.#readers[0];
  }

  push(reader: RunReader): void {
    this.#readers.push(reader);
    for (let at = this.#readers.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  advanceFirst(): void {
    if (!this.#readers[0]?.next()) {
      const last = this.#readers.pop();
      if (last === undefined || this.#readers.length === 0) return;
      this.#readers[0] = last;
    }
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let smallest = at;
      if (this.#isBefore(left, smallest)) smallest = left;
      if (this.#isBefore(right, smallest)) smallest = right;
      if (smallest === at) return;
      this.#swap(at, smallest);
      at = smallest;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#readers[a], this.#readers[b]];
    if (first === undefined || second === undefined) return false;
    if (first.entry.key !== second.entry.key) return first.entry.key < second.entry.key;
    return first.index < second.index;
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#readers[a], this.#readers[b]];
    if (first === undefined || second === undefined) return;
    this.#readers[a] = second;
    this.#readers[b] = first;
  }
}
