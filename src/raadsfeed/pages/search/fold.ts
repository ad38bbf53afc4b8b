/** Words as the index knows them: what people type and what texts say become the same. */

/** Letters that are no letter with a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ı: 'i', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' },
};

/** Lower-case letters without marks, and digits; words with one blank between them. Of a word longer than 60 characters the beginning. */
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
