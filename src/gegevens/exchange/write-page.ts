import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { eventLoopBudget } from '../../kernel/event-loop.ts';
import type { SignatureStyle } from '../jades/protected-header.ts';
import type { Signer } from '../jades/sign.ts';
import type { AnswerPart, TextsPart } from '../model/answer-frame.ts';
import { type SelectOptions, streamList, streamLists, streamSelected } from '../store/selected-records.ts';

/** Short lists are read together until they hold this many texts: those are sorted in the memory of the database. */
const TOGETHER = 2000;

/**
 * Writes an answer from its frame and the stored texts.
 * @throws {Error} when records are missing that were there when the page was planned
 */
export async function writePage(
  client: pg.ClientBase,
  parts: readonly AnswerPart[],
  select: SelectOptions,
): Promise<PageBytes> {
  const writer = new PieceWriter();
  let at = 0;
  const writeUpTo = (place: number): void => {
    for (; at < place; at += 1) {
      const part = parts[at];
      if (typeof part === 'string') writer.add(part);
    }
  };
  for (const group of groups(parts)) {
    const counts = new Map<number, number>();
    const take = (text: string, nth: number): void => {
      const place = group[nth]?.place ?? at;
      writeUpTo(place);
      const count = counts.get(place) ?? 0;
      if (count > 0) writer.add(',');
      counts.set(place, count + 1);
      writer.add(text);
    };
    const lists = group.map(({ part }) => part);
    const [only, ...others] = lists;
    if (only?.slice.selection !== undefined) await streamSelected(client, lists, take, select);
    else if (only !== undefined && others.length === 0) await streamList(client, only, take);
    else await streamLists(client, lists, take);
    for (const { part, place } of group) checkCount(part, counts.get(place) ?? 0);
  }
  writeUpTo(parts.length);
  return writer.finish();
}

interface Placed {
  readonly part: TextsPart;
  /** Among the parts of the answer. */
  readonly place: number;
}

/**
 * Divides the lists that hold anything into questions for the database: neighbours of which records are selected together; of those that
 * are given whole, long ones alone and short neighbours together.
 */
function groups(parts: readonly AnswerPart[]): Placed[][] {
  const found: Placed[][] = [];
  let together = 0;
  for (const [place, part] of parts.entries()) {
    if (typeof part === 'string') continue;
    const size = mostTexts(part);
    if (size === 0) continue;
    const last = found.at(-1);
    const isSelected = part.slice.selection !== undefined;
    const isAlike = (last?.[0]?.part.slice.selection !== undefined) === isSelected;
    together += size;
    if (last !== undefined && isAlike && (isSelected || together <= TOGETHER)) last.push({ part, place });
    else {
      found.push([{ part, place }]);
      together = size;
    }
  }
  return found;
}

function mostTexts({ slice, list }: TextsPart): number {
  if (list === 'records') return slice.to - slice.from;
  return slice.zaken ? slice.levering.zaken : 0;
}

function checkCount({ slice: { levering, from, to }, list }: TextsPart, count: number): void {
  if (list === 'records' && count !== to - from) {
    throw new Error(`levering ${levering.id}: ${count} records instead of ${to - from}`);
  }
}

/** Bytes of an answer, in pieces, so that nothing large is ever joined or hashed in one go. */
export interface PageBytes {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  /** `SHA-256=<base64>`. */
  readonly digest: string;
}

/** Most answers are small, and memory beside the heap that is taken and let go at every one of them makes the collector come often. */
const FIRST_BYTES = 8 * 1024;
const PIECE_BYTES = 256 * 1024;
/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const WORST_CASE = 3;

/** Encodes text into pieces as it comes, and hashes each as it fills. */
class PieceWriter {
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

/** What a reply sends of an answer: its pieces, but no more of them in one turn of the event loop than others can bear. */
export function sendPage({ pieces }: PageBytes): Buffer | Readable {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined && only.length <= PIECE_BYTES
    ? only
    : Readable.from(inTurns(pieces));
}

/** A connection to near by takes megabytes at once, and copying them is work of the event loop too. */
async function* inTurns(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    // One text can be much larger than a piece; how fast it is taken shows only between the parts that are handed over.
    for (let from = 0; from < piece.length; from += PIECE_BYTES) {
      yield piece.subarray(from, from + PIECE_BYTES);
      await eventLoopBudget.yield();
    }
  }
}

/** Signs an answer. In the digest form its size does not matter; in the body form it is fed piece by piece. */
export async function signPage(signer: Signer, page: PageBytes, style: SignatureStyle): Promise<string> {
  if (style.form === 'digest') return await signer.signDigest(page.digest, style);
  const signing = signer.begin(style);
  for (const piece of page.pieces) {
    signing.update(piece);
    await eventLoopBudget.yield();
  }
  return (await signing.finish()).signature;
}
