/** Text of suppliers that may be HTML. */

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  euro: '€',
  eacute: 'é',
  egrave: 'è',
  euml: 'ë',
  iuml: 'ï',
  ouml: 'ö',
  uuml: 'ü',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  hellip: '…',
  bull: '•',
};

// What is not closed goes on to the end, as in a browser: a search that fails is not repeated from every beginning.
const TAG = /<(?:!--[\s\S]*?(?:-->|$)|\/?[a-z][^<>]*>)/gi;
const BLOCK = /<\/?(?:p|div|br|li|ul|ol|h[1-6]|tr|table|blockquote)\b[^<>]*>/gi;
const UNREAD = /<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;

/** The text of what may be HTML: blocks become lines, character references characters. `undefined` when nothing is left. */
export function textOfHtml(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const bare = value.replaceAll(UNREAD, '').replaceAll(BLOCK, '\n').replaceAll(TAG, '');
  const text = bare.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, characterOf);
  const lines = text.split('\n').map((line) => line.replaceAll(/[ \t\r\u00a0]+/g, ' ').trim());
  const joined = lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return joined === '' ? undefined : joined;
}

function characterOf(reference: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return NAMED[name] ?? reference;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const isCharacter = code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : ' ';
}
