/** Where the words of a search stand in the texts that its results show. */
import type { Db } from '../../../database/transaction.ts';
import { type SearchQuery, tsquery } from './fold.ts';

/** Where words of a query stand in texts: half-open ranges of characters, in order. */
export type Marks = readonly (readonly [from: number, to: number])[];

const START = '\u0001';
const END = '\u0002';

/** @param texts folded */
export async function markWords(db: Db, query: SearchQuery, texts: readonly string[]): Promise<Marks[]> {
  if (texts.length === 0) return [];
  const { rows } = await db.query<{ marked: string }>({
    name: 'raadsfeed-zoek-markeer',
    text: `select ts_headline('dutch', t, q, $4::text) as marked
             from (select ${tsquery('$2', '$3')} as q) q,
                  unnest($1::text[]) with ordinality as g (t, place)
            order by place`,
    values: [texts, query.web, query.beginnings, `HighlightAll=true, StartSel=${START}, StopSel=${END}`],
  });
  return rows.map(({ marked }, i) => rangesIn(marked, texts[i] ?? ''));
}

/** The ranges that are marked; none when the rest is not the text itself. */
function rangesIn(marked: string, text: string): Marks {
  const ranges: [number, number][] = [];
  let bare = '';
  for (const part of marked.split(START)) {
    const [word = '', rest] = part.split(END);
    if (rest !== undefined) ranges.push([bare.length, bare.length + word.length]);
    bare += word + (rest ?? '');
  }
  return bare === text ? ranges : [];
}
