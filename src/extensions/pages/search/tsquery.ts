/** Searches as the index of words understands them: parts of a statement whose type is `tsquery`. */
import type { SearchFilter } from './find.ts';
import { needsCheck, type SearchQuery } from './fold.ts';

/** Adds a value to a statement. @returns its place, as `$3` */
type Parameter = (value: string) => string;

const typed = (text: string, parameter: Parameter): string => `websearch_to_tsquery('dutch', ${parameter(text)}::text)`;

/** The words as they are typed, and each also as a beginning when that is asked. */
export function wordsOf({ web, words }: SearchQuery, hasBeginnings: boolean, parameter: Parameter): string {
  if (!hasBeginnings || words.length === 0) return typed(web, parameter);
  return withBeginnings(web, words, false, parameter);
}

/**
 * What the index finds the rows by that are then checked for the words; `undefined` when it finds exactly those that have them. It does not
 * know which words stand together. And of a beginning that is longer than it has, it would have to collect all that begins like that, which takes
 * longer the more there are: where there are many, or not many days, it is quicker to check the rows that begin nearly like that.
 */
export function wordsToRead(
  { web, words, all }: SearchQuery,
  { isCommon, hasBeginnings }: { readonly isCommon: boolean; readonly hasBeginnings: boolean },
  parameter: Parameter,
): string | undefined {
  if (words.length === 0) return typed(all, parameter);
  return hasBeginnings && isCommon && needsCheck(words) ? withBeginnings(web, words, true, parameter) : undefined;
}

/** @param isShort beginnings only as far as the index has them, where that is nearly as far */
function withBeginnings(web: string, words: SearchQuery['words'], isShort: boolean, parameter: Parameter): string {
  const each = words.map(({ word, beginning }) => {
    if (beginning === undefined) return typed(word, parameter);
    const short = `${parameter(lexeme(beginning))}::tsquery`;
    const isWhole = beginning === `^${word}` || (isShort && needsCheck([{ word, beginning }]));
    const long = isWhole ? short : `(${short} && to_tsquery('simple', ${parameter(`${word}:*`)}::text))`;
    return `(${typed(word, parameter)} || ${long})`;
  });
  return `(${typed(web, parameter)} || (${each.join(' && ')}))`;
}

/** What a search is narrowed by, as the words that the index has of it (`raadsfeed_zoek.kenmerken`). */
export function lexemesOf({ organisatiecode, gremium, resourceType }: SearchFilter, period: string): string {
  const filters = [
    organisatiecode === undefined ? undefined : `_${organisatiecode}`,
    // Most of a feed are documents: to ask the index for them costs more than to check the rows.
    resourceType === undefined || resourceType === 'Informatieobject' ? undefined : `_${resourceType}`,
    gremium === undefined ? undefined : `_c:${gremium}`,
  ].flatMap((filter) => (filter === undefined ? [] : lexeme(filter)));
  return [...filters, ...(period === '' ? [] : [`(${period})`])].join(' & ');
}

/** A lexeme in the form of a tsquery. */
const lexeme = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
