import type pg from 'pg';
import type { AnswerPart, TextsPart } from '../domain/answer-frame.ts';
import { streamList, streamLists } from '../store/stream-texts.ts';
import { type PageBytes, PieceWriter } from './piece-writer.ts';

/** Short lists are read together until they hold this many texts: those are sorted in the memory of the database. */
const TOGETHER = 2000;

/**
 * Writes an answer from its frame and the stored texts.
 * @throws {Error} when records are missing that were there when the page was planned
 */
export async function writePage(client: pg.ClientBase, parts: readonly AnswerPart[]): Promise<PageBytes> {
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
    const [only] = group;
    if (group.length === 1 && only !== undefined) await streamList(client, only.part, take);
    else
      await streamLists(
        client,
        group.map(({ part }) => part),
        take,
      );
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

/** Divides the lists that hold anything into questions for the database: long ones alone, short neighbours together. */
function groups(parts: readonly AnswerPart[]): Placed[][] {
  const found: Placed[][] = [];
  let together = Number.POSITIVE_INFINITY;
  for (const [place, part] of parts.entries()) {
    if (typeof part === 'string') continue;
    const size = mostTexts(part);
    if (size === 0) continue;
    together += size;
    if (together > TOGETHER) {
      found.push([]);
      together = size;
    }
    found.at(-1)?.push({ part, place });
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
