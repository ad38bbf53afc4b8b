import { type Arrays, createArrays } from './array-of.ts';

/** What one statement's parameters may take of memory that is kept, in bytes; and what it takes at first. */
const MOST_BYTES = 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

/**
 * For the parameters of a statement that is sent many times a second. Their memory is used again for those of the next: with new memory
 * each time the engine looks far more often through all that the process has.
 * @param use makes the parameters and resolves when the statement was answered; they are not to be used after that
 */
export async function withArrays<T>(use: (arrayOf: Arrays) => Promise<T>): Promise<T> {
  const scratch = spare.pop() ?? new Scratch();
  // After an error it is not kept: the driver may still be about to send what stands there.
  const result = await use(scratch.arrays);
  scratch.clear();
  spare.push(scratch);
  return result;
}

/** As many as there were statements at the same time. */
const spare: Scratch[] = [];

class Scratch {
  readonly arrays: Arrays = createArrays((size) => this.#take(size));
  #bytes = Buffer.alloc(FIRST_BYTES);
  #taken = 0;

  #take(size: number): Buffer {
    const from = this.#taken;
    this.#taken += size;
    return this.#taken <= this.#bytes.length ? this.#bytes.subarray(from, this.#taken) : Buffer.allocUnsafe(size);
  }

  /** Leaves nothing of what stood in it, and has room for as much the next time. */
  clear(): void {
    const wanted = Math.min(this.#taken, MOST_BYTES);
    if (wanted > this.#bytes.length) this.#bytes = Buffer.alloc(wanted);
    else this.#bytes.fill(0, 0, wanted);
    this.#taken = 0;
  }
}
