import { Readable } from 'node:stream';
import { eventLoopBudget } from '../../kernel/scheduling.ts';
import { type PageBytes, PIECE_BYTES } from './piece-writer.ts';

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
