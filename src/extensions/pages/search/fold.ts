/** Words as the index knows them, and queries in those words. */

/** Letters without their accents and everything else a blank, of the same length as the text: so that a place in one is that in the other. */
export function fold(text: string): string {
  // Nearly every text is nearly only ASCII: letter by letter, indexing would take most of its time here.
  return text
    .toWellFormed()
    .replace(/[^a-z0-9 ]/g, (unit) => (unit >= 'A' && unit <= 'Z' ? unit.toLowerCase() : unit < '\u0080' ? ' ' : unit))
    .replace(/[^a-z0-9 ]/gu, foldCharacter);
}

/** Folded characters outside ASCII; texts have few different ones, but nobody promises that. */
const folded = new Map<string, string>();
const MOST_FOLDED = 5000;

function foldCharacter(character: string): string {
  const known = folded.get(character);
  if (known !== undefined) return known;
  const bare = character.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const isWord = /^[\p{L}\p{N}]+$/u.test(bare);
  // A letter that takes more or less room than its bare form is kept as it is, so that places stay the same.
  const result = !isWord ? ' '.repeat(character.length) : bare.length === character.length ? bare : character;
  if (folded.size < MOST_FOLDED) folded.set(character, result);
  return result;
}

/** What somebody looks for, in folded words. */
export interface SearchQuery {
  /** For `websearch_to_tsquery`: words, phrases in quotes, `-` before what must not be there. */
  readonly web: string;
  /** For `to_tsquery`: all words, the longer ones as beginnings; `null` when phrases or exclusions say it more exactly. */
  readonly beginnings: string | null;
}

/** Longest query in characters, and most words of it. */
export const QUERY_LENGTH = 200;
const MAX_WORDS = 12;
/** Letters of the shortest beginning: a shorter one would begin too much. */
const SHORTEST_BEGINNING = 4;

/** Reads what somebody typed. @returns `undefined` when there is no word in it */
export function readQuery(typed: string): SearchQuery | undefined {
  const parts = [...typed.slice(0, QUERY_LENGTH).matchAll(/(?<=^|\s)(-?)(?:"([^"]*)"?|(\S+))/g)].slice(0, MAX_WORDS);
  const terms = parts.flatMap(([, not = '', phrase, word = '']) => {
    const words = wordsOf(phrase ?? word);
    return words.length === 0 ? [] : [{ not: not !== '', isPhrase: phrase !== undefined, words }];
  });
  if (!terms.some(({ not }) => !not)) return undefined;
  const web = terms
    .map(
      ({ not, isPhrase, words }) =>
        `${not ? '-' : ''}${isPhrase || (not && words.length > 1) ? `"${words.join(' ')}"` : words.join(' ')}`,
    )
    .join(' ');
  const isPlain = terms.every(({ not, isPhrase }) => !not && !isPhrase);
  const beginnings = terms
    .flatMap(({ words }) => words)
    .map((word) => (word.length < SHORTEST_BEGINNING ? word : `${word}:*`))
    .join(' & ');
  return { web, beginnings: isPlain ? beginnings : null };
}

/** The words of a query as the index has them: in the Dutch configuration, and as beginnings in the simple one. @param parameters of two texts, as `$1` */
export const tsquery = (web: string, beginnings: string): string =>
  `(websearch_to_tsquery('dutch', ${web}::text) || coalesce(to_tsquery('simple', ${beginnings}::text), ''::tsquery))`;

/** `or` is a word of ours like any other, not an operator. */
function wordsOf(text: string): string[] {
  return fold(text)
    .split(' ')
    .filter((word) => word !== '' && word !== 'or')
    .slice(0, MAX_WORDS);
}
