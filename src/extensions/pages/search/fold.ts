/** Words as the index knows them, and queries in those words. */

/** Letters without their accents and everything else a blank, of the same length as the text: so that a place in one is that in the other. */
export function fold(text: string): string {
  return text.toWellFormed().replace(/[^a-z0-9 ]/gu, (character) => {
    if (character < '\u0080') return /[A-Z]/.test(character) ? character.toLowerCase() : ' ';
    const bare = character.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
    if (!/^[\p{L}\p{N}]+$/u.test(bare)) return ' '.repeat(character.length);
    // A letter that takes more or less room than its bare form is kept as it is, so that places stay the same.
    return bare.length === character.length ? bare : character;
  });
}

/** What somebody searches for, in folded words. */
export interface SearchQuery {
  /** For `websearch_to_tsquery`: words, phrases in quotes, `-` before what must not be there, `or`. */
  readonly web: string;
  /** For `to_tsquery`: all words, the longer ones as beginnings; `null` when phrases, exclusions or `or` say it more exactly. */
  readonly beginnings: string | null;
}

/** Longest query in characters, and most words of it. */
export const QUERY_LENGTH = 200;
const MAX_WORDS = 12;
/** Letters of the shortest beginning: a shorter one would begin too much. */
const SHORTEST_BEGINNING = 4;

/** Reads what somebody typed. @returns `undefined` without a word that must be there */
export function readQuery(typed: string): SearchQuery | undefined {
  const terms = [...typed.slice(0, QUERY_LENGTH).matchAll(/(?<=^|\s)(-?)(?:"([^"]*)"?|(\S+))/g)]
    .slice(0, MAX_WORDS)
    .map(([, not = '', phrase, word = '']) => ({ not, phrase, words: wordsOf(phrase ?? word) }))
    .filter(({ words }) => words.length > 0);
  if (terms.every(({ not }) => not !== '')) return undefined;
  const web = terms.map(({ not, phrase, words }) => {
    const text = words.join(' ');
    return not + (phrase !== undefined || (not !== '' && words.length > 1) ? `"${text}"` : text);
  });
  const isPlain = terms.every(({ not, phrase, words }) => not === '' && phrase === undefined && !words.includes('or'));
  const beginnings = terms
    .flatMap(({ words }) => words)
    .map((word) => (word.length < SHORTEST_BEGINNING ? word : `${word}:*`))
    .join(' & ');
  return { web: web.join(' '), beginnings: isPlain ? beginnings : null };
}

/** The words of a query as the index has them: in the Dutch configuration, and as beginnings in the simple one. @param parameters of two texts, as `$1` */
export const tsquery = (web: string, beginnings: string): string =>
  `(websearch_to_tsquery('dutch', ${web}::text) || coalesce(to_tsquery('simple', ${beginnings}::text), ''::tsquery))`;

function wordsOf(text: string): string[] {
  return fold(text).split(' ').filter(Boolean).slice(0, MAX_WORDS);
}
