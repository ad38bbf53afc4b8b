import type pg from 'pg';
import type { AnswerPart, TextsPart } from '../domain/answer-frame.ts';
import { type SelectOptions, streamSelected } from '../store/selected-records.ts';
import { streamList, streamLists } from '../store/stream-texts.ts';
import { type PageBytes, PieceWriter } from './piece-writer.ts';

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
