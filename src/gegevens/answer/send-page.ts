import { Readable } from 'node:stream';
import { eventLoopBudget } from '../../kernel/event-loop.ts';
import type { PageBytes } from './piece-writer.ts';

/** What a reply sends of an answer: its pieces, but no more of them in one turn of the event loop than others can bear. */
export function sendPage({ pieces }: PageBytes): Buffer | Readable {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Readable.from(inTurns(pieces));
}

/** A connection to near by takes megabytes at once, and copying them is work of the event loop too. */
async function* inTurns(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    yield piece;
    await eventLoopBudget.yield();
  }
}
