/** Plain text of supplier texts that may be HTML. */
import { decodeHTMLStrict } from 'entities';

/** Each starts a paragraph; the others start a line. */
const PARAGRAPHS =
  'address|article|aside|blockquote|br|center|dl|fieldset|figure|footer|form|h[1-6]|header|hr|main|nav|ol|p|pre|section|table|ul';
const LINES =
  'body|caption|dd|details|dir|div|dt|figcaption|head|html|legend|li|option|summary|tbody|tfoot|thead|title|tr';
const CELLS = 'td|th';
const INLINE =
  'a|abbr|acronym|area|audio|b|base|bdi|bdo|big|button|canvas|cite|code|col|colgroup|data|del|dfn|em|embed|font|i|iframe|img|input|ins|kbd|' +
  'label|link|map|mark|meta|nobr|noscript|object|output|param|picture|q|s|samp|select|small|source|span|strike|strong|sub|sup|svg|template|' +
  'textarea|time|tt|u|var|video|wbr|(?:o|v|w|m|st1):\\w+';
// No part matches across the next `<`, so that a failing search is short. Without `=` there are no attributes: "a <b en c> d".
const ATTRIBUTES = `(?:\\s(?=[^<>]*=|\\s*/?>)(?:(?:[^<>"']|"[^"<]*"|'[^'<]*')*|[^<>]*)|/)?`;

/**
 * Markup, with the name of a block or a cell. Other names are not tags: `<griffie@voorbeeldstad.example>` is text. An unclosed element continues to
 * the end, as in a browser.
 */
const MARKUP = new RegExp(
  `<(script|style)(?=[\\s/>])[\\s\\S]*?(?:</\\1\\s*>|$)|<!--[\\s\\S]*?(?:-->|$)|<(?:!doctype|\\?xml)[^<>]*>|` +
    `</?(?:(${PARAGRAPHS})|(${LINES})|(${CELLS})|(?:${INLINE}))${ATTRIBUTES}>`,
  'gi',
);
const BLOCK_TAG = new RegExp(`</?(?:${PARAGRAPHS}|${LINES})${ATTRIBUTES}>`, 'i');

/**
 * The text of possible HTML: blocks become lines, and references become characters, once and only with their semicolon: "R&para" and `&amp;lt;` mean
 * what they say. `undefined` when nothing is left.
 */
export function textOfHtml(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const source = value.replaceAll(/\r\n?/g, '\n');
  // Where blocks define the lines, line ends in the source do not count.
  const flowing = BLOCK_TAG.test(source) ? source.replaceAll('\n', ' ') : source;
  const bare = flowing.replaceAll(MARKUP, (_markup, _unread, paragraph?: string, line?: string, cell?: string) => {
    if (paragraph !== undefined) return '\n';
    if (line !== undefined) return '\r';
    return cell === undefined ? '' : ' ';
  });
  const broken = bare.split('\r').map((line) => line.trim());
  const flat = broken.filter((line) => line !== '').join('\n');
  const text = decodeHTMLStrict(flat).replaceAll(/(?!\n)\p{Cc}/gu, ' ');
  const lines = text.split('\n').map((line) => line.replaceAll(/[ \u00a0]+/g, ' ').trim());
  const joined = lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return joined === '' ? undefined : joined;
}

/** As `textOfHtml`, on one line: for names. */
export function lineOfHtml(value: string | undefined): string | undefined {
  return oneLine(textOfHtml(value));
}

export function oneLine(text: string | undefined): string | undefined {
  return text?.replaceAll(/\n+/g, ' ');
}
