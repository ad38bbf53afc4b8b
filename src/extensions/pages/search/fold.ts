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

/** Lengths of the beginnings that the index has of words of titles and names; a longer one is looked up by the longest of these. */
const BEGINNING_LENGTHS = [4, 6] as const;

/** The beginnings of the words of a folded text, as the index has them; a `^` in front tells them from words. */
export function beginningsOf(text: string): Set<string> {
  return new Set(
    text
      .split(' ')
      .flatMap((word) =>
        BEGINNING_LENGTHS.flatMap((length) =>
          word.length < length ? [] : [`^${word.slice(0, length).toWellFormed()}`],
        ),
      ),
  );
}

/** A word of a plain query. */
export interface SearchWord {
  readonly word: string;
  /** As the index has it. Absent for a word that is too short: it would begin too much. */
  readonly beginning?: string;
}

/** What somebody looks for. */
export interface SearchQuery {
  /** In the form of `websearch_to_tsquery`: words, phrases in quotes, `-` before what must not be there. */
  readonly web: string;
  /** The words, each of which may be a beginning; empty when phrases or exclusions say it more exactly. */
  readonly words: readonly SearchWord[];
  /** Every word that is not excluded, of phrases too. */
  readonly all: string;
}

/** The words as beginnings, in the form of `to_tsquery`; `undefined` when there are none. */
export function beginningsQuery({ words }: SearchQuery): string | undefined {
  if (words.length === 0) return undefined;
  return words.map(({ word, beginning }) => (beginning === undefined ? word : `${word}:*`)).join(' & ');
}

/** Letters that a beginning may have more than the index has of it, to be checked row by row: with more, few rows would pass. */
const CHECKED_LETTERS = 2;

/** Whether rows are found by shorter beginnings than these and then checked. */
export function needsCheck(words: readonly SearchWord[]): boolean {
  return words.some(({ word, beginning }) => {
    const more = beginning === undefined ? 0 : word.length + 1 - beginning.length;
    return more > 0 && more <= CHECKED_LETTERS;
  });
}

/** Longest query in characters, and most words of it. */
export const QUERY_LENGTH = 200;
const MAX_WORDS = 12;

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
  const all = terms.flatMap(({ not, words }) => (not ? [] : words));
  return { web, words: isPlain ? all.map(toSearchWord) : [], all: all.join(' ') };
}

function toSearchWord(word: string): SearchWord {
  const length = BEGINNING_LENGTHS.findLast((one) => one <= word.length);
  return length === undefined ? { word } : { word, beginning: `^${word.slice(0, length).toWellFormed()}` };
}

/** `or` is a word of ours like any other, not an operator. */
function wordsOf(text: string): string[] {
  return fold(text)
    .split(' ')
    .filter((word) => word !== '' && word !== 'or')
    .slice(0, MAX_WORDS);
}
