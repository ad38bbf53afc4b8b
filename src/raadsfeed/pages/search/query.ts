/** Parses search text into terms, and finds the words that name a kind of item; `words.ts` turns terms into words of the index. */
import { RESOURCE_TYPES, type ResourceType } from '../../../lib/feed/resource.ts';
import { DATE, fold, readDate } from './fold.ts';

/** A word, a phrase in quotes, or a day or month as people write it. */
export interface Term {
  /** As typed, without the quotes and the `-`. */
  readonly text: string;
  readonly kind: 'word' | 'phrase' | 'date';
  readonly isExcluded: boolean;
}

export interface SearchQuery {
  /** One of these must match with all of its terms; people write `OR` between them. */
  readonly groups: readonly (readonly Term[])[];
  /** Some of the typed terms are not searched for. */
  readonly isCut: boolean;
}

/** Longest query in characters, and most terms of it. */
export const QUERY_LENGTH = 200;
export const MOST_TERMS = 12;

const TERM = new RegExp(String.raw`(?<=^|\s)(-?)(?:(${DATE})(?=\s|$)|["“”„]([^"“”„]*)["“”„]?|(\S+))`, 'giu');

/** Reads search text. @returns `undefined` without a required term */
export function readQuery(typed: string): SearchQuery | undefined {
  const text = typed.slice(0, QUERY_LENGTH).toWellFormed().replaceAll('\0', ' ');
  const groups: Term[][] = [[]];
  let count = 0;
  for (const [, not = '', date, phrase, word = ''] of text.matchAll(TERM)) {
    if (date === undefined && phrase === undefined && /^or$/i.test(not + word)) {
      groups.push([]);
      continue;
    }
    const value = date ?? phrase ?? word;
    if (!/[\p{L}\p{N}]/u.test(value)) continue;
    count += 1;
    if (count > MOST_TERMS) continue;
    const kind = date !== undefined && readDate(date) ? 'date' : phrase === undefined ? 'word' : 'phrase';
    groups.at(-1)?.push({ text: value, kind, isExcluded: not !== '' });
  }
  const asked = groups.filter((terms) => terms.some(({ isExcluded }) => !isExcluded));
  return asked.length === 0 ? undefined : { groups: asked, isCut: count > MOST_TERMS };
}

/** Words for a type: few meetings or documents contain the word for theirs. */
const TYPES: Readonly<Record<ResourceType, readonly string[]>> = {
  Vergadering: ['vergadering', 'vergaderingen', 'bijeenkomst', 'bijeenkomsten'],
  Agendapunt: ['agendapunt', 'agendapunten'],
  Informatieobject: ['document', 'documenten', 'stuk', 'stukken', 'raadsstuk', 'raadsstukken'],
};

/** Documents name their kind in their title or type; for some, suppliers use another phrase. */
const DOCUMENTS: readonly { readonly words: string; readonly also?: string }[] = [
  { words: 'motie moties amendement amendementen toezegging toezeggingen notulen' },
  { words: 'raadsvoorstel raadsvoorstellen raadsbesluit raadsbesluiten' },
  { words: 'raadsbrief raadsbrieven', also: 'raadsinformatiebrief' },
  { words: 'raadsvraag raadsvragen', also: 'schriftelijke vragen' },
];

export interface KindQuery {
  readonly word: string;
  /** Absent: the kind has items of several types. */
  readonly type?: ResourceType;
  readonly query: SearchQuery | undefined;
}

/**
 * Reads a query that has a word for a kind and, besides, at most an organisation or a day: it lists all of that kind, newest first.
 * @param asked the type that was chosen already
 */
export function readKind(
  { groups, isCut }: SearchQuery,
  organisations: readonly { readonly naam: string }[],
  asked: ResourceType | undefined,
): KindQuery | undefined {
  const [terms = []] = groups;
  if (groups.length > 1) return undefined;
  const names = new Set(organisations.flatMap(({ naam }) => fold(naam).split(' ')));
  const isPlace = ({ kind, isExcluded, text }: Term): boolean =>
    !isExcluded &&
    (kind === 'date' ||
      fold(text)
        .split(' ')
        .every((word) => names.has(word)));
  const [word, ...more] = terms.filter((term) => !isPlace(term));
  if (word === undefined || more.length > 0 || word.kind !== 'word' || word.isExcluded) return undefined;
  const name = fold(word.text);
  const rest = terms.filter((term) => term !== word);
  const type = RESOURCE_TYPES.find((one) => TYPES[one].includes(name));
  if (type !== undefined) {
    if (asked !== undefined && asked !== type) return undefined;
    return { type, word: word.text, query: rest.length === 0 ? undefined : { groups: [rest], isCut } };
  }
  const documents = DOCUMENTS.find(({ words }) => words.split(' ').includes(name));
  if (documents === undefined) return undefined;
  const { also: text } = documents;
  const others = text === undefined ? [] : [[{ text, kind: 'phrase', isExcluded: false } as const, ...rest]];
  return { word: word.text, query: { groups: [terms, ...others], isCut } };
}
