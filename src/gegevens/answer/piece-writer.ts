import { createHash } from 'node:crypto';

/** Bytes of an answer, in pieces, so that nothing large is ever joined or hashed in one go. */
export interface PageBytes {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  /** `SHA-256=<base64>`. */
  readonly digest: string;
}

const PIECE_BYTES = 512 * 1024;
/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const WORST_CASE = 3;

/** Encodes text into pieces as it comes, and hashes each as it fills. */
export class PieceWriter {
  readonly #pieces: Buffer[] = [];
  readonly #hash = createHash('sha256');
  #piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
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
    this.#piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, needed));
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
