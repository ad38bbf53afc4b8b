const characters = new Intl.Segmenter('nl', { granularity: 'grapheme' });
/** More code units than a visible character has, unless made longer on purpose. */
const LONGEST_CHARACTER = 64;

/** The beginning of a text, of at most `length` code units, that does not split a character. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const from = Math.max(0, length - LONGEST_CHARACTER);
  const begins = characters.segment(text.slice(from, length + LONGEST_CHARACTER)).containing(length - from)?.index ?? 0;
  if (begins > 0 || from === 0) return text.slice(0, from + begins);
  // One endless character: at least no surrogate loses its pair.
  const isPair = /[\ud800-\udbff]/.test(text.charAt(length - 1)) && /[\udc00-\udfff]/.test(text.charAt(length));
  return text.slice(0, isPair ? length - 1 : length);
}
