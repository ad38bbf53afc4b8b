/**
 * Whether a name stands twice in an object of a JSON text. `JSON.parse` keeps the last one unnoticed, and RFC 8785 (section 3.1, I-JSON)
 * knows no such object: what is published would not be what the source wrote.
 * @param value what `JSON.parse` made of the text
 */
export function hasDoubleNames(text: string, value: unknown): boolean {
  // What comes out as it went in has lost nothing: true of what most programs write, and several times faster.
  if (JSON.stringify(value) === text) return false;
  return countWritten(text) !== countNames(value);
}

const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;

/** How many names a JSON text has: texts with a colon behind them. */
function countWritten(text: string): number {
  let names = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    let end = text.indexOf('"', start + 1);
    while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
    let after = end + 1;
    while (text.charCodeAt(after) <= SPACE) after += 1;
    if (text.charCodeAt(after) === COLON) names += 1;
    start = text.indexOf('"', end + 1);
  }
  return names;
}

/** A quote behind an odd number of backslashes belongs to the text. */
function isEscaped(text: string, quote: number): boolean {
  let from = quote;
  while (text.charCodeAt(from - 1) === BACKSLASH) from -= 1;
  return (quote - from) % 2 === 1;
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item: unknown) => sum + countNames(item), 0);
  return Object.values(value).reduce((sum: number, item: unknown) => sum + 1 + countNames(item), 0);
}
