import type pg from 'pg';
import type { AnswerPart } from '../domain/answer-frame.ts';
import { streamRecords, streamZaken } from '../store/stream-texts.ts';
import { type PageBytes, PieceWriter } from './piece-writer.ts';

/**
 * Writes an answer from its frame and the stored texts.
 * @throws {Error} when records are missing that were there when the page was planned
 */
export async function writePage(client: pg.ClientBase, parts: readonly AnswerPart[]): Promise<PageBytes> {
  const writer = new PieceWriter();
  for (const part of parts) {
    if (typeof part === 'string') {
      writer.add(part);
      continue;
    }
    const { slice, list } = part;
    let first = true;
    const take = (text: string): void => {
      if (!first) writer.add(',');
      first = false;
      writer.add(text);
    };
    if (list === 'zaken') {
      if (slice.zaken && slice.levering.zaken > 0) await streamZaken(client, slice, take);
    } else if (slice.to > slice.from) {
      const count = await streamRecords(client, slice, take);
      if (count !== slice.to - slice.from) {
        throw new Error(`levering ${slice.levering.id}: ${count} records instead of ${slice.to - slice.from}`);
      }
    }
  }
  return writer.finish();
}
