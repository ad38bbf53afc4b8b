import { createHash } from 'node:crypto';

/** Bytes of an answer, in pieces, so that nothing large is ever joined or hashed in one go. */
export interface PageBytes {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  /** `SHA-256=<base64>`. */
  readonly digest: string;
}

/** Most answers are small, and memory beside the heap that is taken and let go at every one of them makes the collector come often. */
const FIRST_BYTES = 8 * 1024;
export const PIECE_BYTES = 256 * 1024;
/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const WORST_CASE = 3;

/** Encodes text into pieces as it comes, and hashes each as it fills. */
export class PieceWriter {
  readonly #pieces: Buffer[] = [];
  readonly #hash = createHash('sha256');
  #piece = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #bytes = 0;

  add(text: string): void {
    const worst = text.length * WORST_CASE;
    if (this.#used + worst > this.#piece.length) this.#next(worst);
    this.#used += this.#piece.write(text, this.#used);
  }

  finish(): PageBytes {
    this.#close();
    return { pieces: this.#pieces, bytes: this.#bytes, digest: `SHA-256=${this.#hash.digest('base64')}` };
  }

  #next(needed: number): void {
    this.#close();
    const size = Math.min(PIECE_BYTES, this.#piece.length * 4);
    this.#piece = Buffer.allocUnsafeSlow(Math.max(size, needed));
  }

  #close(): void {
    if (this.#used === 0) return;
    const filled = this.#piece.subarray(0, this.#used);
    this.#hash.update(filled);
    // What was kept free for the worst case is given back when it is much.
    this.#pieces.push(this.#used * 2 < this.#piece.length ? Buffer.from(filled) : filled);
    this.#bytes += this.#used;
    this.#used = 0;
  }
}
