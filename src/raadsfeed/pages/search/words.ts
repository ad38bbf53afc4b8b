/**
 * The terms of a query in the words of the index (see `migrations/0009-pages.sql`). A word matches as it is, in its other forms, as a beginning, as
 * the end of a compound, and as a name of the organisation.
 */
import type { Db } from '../../../database/transaction.ts';
import type { FeedOrganisation } from '../../store/state.ts';
import { fold, readDate } from './fold.ts';
import { CURRENT } from './lists.ts';
import type { SearchQuery, Term } from './query.ts';

export interface WordQuery {
  /** All matches. */
  readonly all: string;
  /** Only matches in these forms of the words. */
  readonly exact: string;
  /** Matches in titles; other terms may match the organisation, the body or the day. */
  readonly title: string;
  readonly terms: readonly WordTerm[];
}

interface WordTerm extends Pick<Term, 'text' | 'kind'> {
  readonly tsquery: string;
}

interface Word {
  readonly word: string;
  readonly stem: string;
  /** Of the organisations that have it in their names. */
  readonly codes: readonly string[];
  /** A word like `de`, or one in the names of most organisations: it counts only if no other word does. */
  readonly isWeak: boolean;
}

type Named = Pick<FeedOrganisation, 'organisatiecode' | 'naam'>;

/** Minimum letters of a beginning and of an end: shorter ones would match too much. */
const SHORTEST_PART = 4;
/** Letters of the shortest stem that is a beginning. */
const SHORTEST_STEM = 5;

/** @returns `undefined` without a word that must be there */
export async function readWords(
  db: Db,
  { groups }: SearchQuery,
  organisations: readonly Named[],
): Promise<WordQuery | undefined> {
  const known = await lookUp(db, groups.flat().flatMap(wordsIn), organisations);
  const wordsOf = (term: Term): Word[] => wordsIn(term).flatMap((word) => known.get(word) ?? []);
  const hasStrong = groups.flat().some((term) => wordsOf(term).some(({ isWeak }) => !isWeak));
  const read = groups
    .map((group) =>
      group
        .map((term) => {
          const isOptional = ({ isWeak }: Word): boolean => term.kind === 'word' && hasStrong && isWeak;
          return { ...term, words: wordsOf(term).filter((word) => !isOptional(word)) };
        })
        .filter(({ kind, words }) => kind === 'date' || words.length > 0),
    )
    .filter((group) => group.some(({ isExcluded }) => !isExcluded));
  if (read.length === 0) return undefined;
  const query = (form: (group: readonly ReadTerm[]) => Form): string =>
    either(
      read.map((group) =>
        all(group.map((term) => (term.isExcluded ? `!${termQuery(term, exactly)}` : termQuery(term, form(group))))),
      ),
    );
  return {
    all: query(() => anyhow),
    exact: query(() => exactly),
    title: query((group) => (group.length > 1 ? inTitleOrPlace : inTitle)),
    terms: read
      .flat()
      .filter(({ isExcluded }) => !isExcluded)
      .map((term) => ({ text: term.text, kind: term.kind, tsquery: termQuery(term, anyhow) })),
  };
}

const wordsIn = ({ text, kind }: Term): string[] => (kind === 'date' ? [] : fold(text).split(' ').filter(Boolean));

async function lookUp(db: Db, words: readonly string[], organisations: readonly Named[]): Promise<Map<string, Word>> {
  const { rows } = await db.query<{ word: string; stem: string; isStop: boolean }>({
    name: 'pages-stems',
    text: `select w as word, pages.stem(w) as stem, coalesce(ts_lexize('pg_catalog.dutch_stem', w) = '{}', false) as "isStop"
             from unnest($1::text[]) w`,
    values: [[...new Set(words)]],
  });
  const names = organisations.map(({ organisatiecode, naam }) => ({
    code: organisatiecode,
    words: [organisatiecode, ...fold(naam).split(' ')],
  }));
  return new Map(
    rows.map(({ isStop, ...word }) => {
      const codes = names.filter(({ words }) => words.includes(word.word)).map(({ code }) => code);
      return [word.word, { ...word, codes, isWeak: isStop || codes.length * 2 > names.length }];
    }),
  );
}

/** How words and days are looked up: with `=` in the title, with `@` as a name or a day. */
interface Form {
  readonly word: (word: Word) => string;
  readonly phrase: '' | '=';
  readonly day: '@' | '=@';
}

const lexeme = (word: string): string => `'${word}'`;
const either = (parts: readonly string[]): string => `(${[...new Set(parts)].join(' | ')})`;
const all = (parts: readonly string[]): string => `(${parts.join(' & ')})`;
const formsOf = ({ word, stem }: Word, mark = ''): string[] => [word, stem].map((form) => lexeme(mark + form));
const namesOf = ({ codes }: Word): string[] => codes.map((code) => lexeme(`@${code}`));

const exactly: Form = { phrase: '', day: '@', word: (word) => either([...formsOf(word), ...namesOf(word)]) };
const inTitle: Form = { phrase: '=', day: '=@', word: (word) => either(formsOf(word, '=')) };
const inTitleOrPlace: Form = {
  phrase: '=',
  day: '@',
  word: (word) => either([...formsOf(word, '='), ...formsOf(word, '@'), ...namesOf(word)]),
};
const anyhow: Form = {
  ...exactly,
  word: (word) => {
    if (word.word.length < SHORTEST_PART || /^\d/.test(word.word)) return exactly.word(word);
    const beginning = word.stem.length >= SHORTEST_STEM && word.word.startsWith(word.stem) ? word.stem : word.word;
    return either([
      `${lexeme(beginning)}:*`,
      lexeme(word.stem),
      ...endings(word).map((ending) => `${lexeme(`<${[...ending].reverse().join('')}`)}:*`),
      ...namesOf(word),
    ]);
  },
};

/** How a compound that ends in the word may end. */
function endings({ word, stem }: Word): string[] {
  const bases = [word, word.replace(/(?:en|s)$/, ''), stem].filter((base) => base.length >= SHORTEST_PART);
  return [...new Set([...bases, `${word}en`, `${word}s`])];
}

type ReadTerm = Term & { readonly words: readonly Word[] };

function termQuery({ text, kind, isExcluded, words }: ReadTerm, form: Form): string {
  const date = kind === 'date' ? readDate(text) : undefined;
  if (date !== undefined) return lexeme(form.day + date);
  // A single word in quotes is that word alone.
  if (kind === 'phrase' && words.length === 1) return all(words.map(({ word }) => lexeme(form.phrase + word)));
  if (kind === 'phrase' || (isExcluded && words.length > 1))
    return `(${words.map((word) => either(formsOf(word, form.phrase))).join(' <-> ')})`;
  return all(words.map(form.word));
}

export type Marks = readonly (readonly [from: number, to: number])[];

export async function markWords(db: Db, { terms }: WordQuery, texts: readonly string[]): Promise<Marks[]> {
  const places = texts.map((text) =>
    [...text.matchAll(/[\p{L}\p{N}\p{M}'’]+/gu)].map(({ 0: word, index }) => ({ word, index, folded: fold(word) })),
  );
  const { rows } = await db.query<{ word: string }>({
    name: 'pages-marks',
    text: `select word from unnest($1::text[]) word where pages.words_of(word, '', 'A') @@ $2::tsquery`,
    values: [
      [...new Set(places.flat().map(({ folded }) => folded))],
      // Of a phrase each word by itself.
      either(terms.map(({ tsquery }) => tsquery.replaceAll(/<->|&/g, '|'))),
    ],
  });
  const found = new Set(rows.map(({ word }) => word));
  return places.map((words) =>
    words.filter(({ folded }) => found.has(folded)).map(({ index, word }) => [index, index + word.length] as const),
  );
}

interface MissingTerm {
  readonly text: string;
  readonly nearest: string | undefined;
}

/** Rows of a word that a single redaction does not remove; whether they are current is not looked up. */
const MANY_ROWS = 1000;

/** The terms of a query without results that have none by themselves. Redacted words are never suggested. */
export async function findMissing(
  db: Db,
  { terms }: WordQuery,
  organisations: readonly Named[],
): Promise<MissingTerm[]> {
  // `offset 0`: rows are found by the index of words; otherwise the planner would scan the table until it finds one.
  const has = (query: string): string =>
    `exists (select from (select s.number from pages.items s where s.words @@ ${query}::tsquery offset 0) s ${CURRENT})`;
  const { rows } = await db.query<{ text: string; nearest: string | null }>({
    name: 'pages-missing',
    text: `select t.text, (
                  select n.word from pages.nearest_words(t.folded, $5::text[]) n
                   where t.kind = 'word' and (n.rows > ${MANY_ROWS} or ${has('quote_literal(n.word)')}) limit 1) as nearest
             from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality t (text, kind, folded, q, place)
            where not exists (select from pages.words w where w.word = t.folded and w.rows > ${MANY_ROWS})
              and not ${has('t.q')}
            order by t.place`,
    values: [
      ...[terms.map(({ text }) => text), terms.map(({ kind }) => kind)],
      ...[terms.map(({ text }) => fold(text)), terms.map(({ tsquery }) => tsquery)],
      [...new Set(organisations.flatMap(({ naam }) => fold(naam).split(' ')))],
    ],
  });
  return rows.map(({ text, nearest }) => ({ text, nearest: nearest ?? undefined }));
}
