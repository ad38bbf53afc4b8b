/** Folds words for the index, so that typed words and texts match. */

/** Letters that do not decompose into a letter with a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ı: 'i', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' },
};

/** Lower-case letters without marks, and digits; words with one blank between them. Words are cut off after 60 characters. */
export function fold(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ıøłđðħŧßæœþ]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(\S{60})\S+/gu, '$1')
    .trim();
}
