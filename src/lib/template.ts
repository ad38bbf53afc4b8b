/** Markup that is escaped by default: a template escapes every value that it did not make itself. */
import { cutText } from './cut-text.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Markup that may be sent as it is. Only `html` and `trusted` make it. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
  toString(): string {
    return this.markup;
  }
}

/** The values of a template: nothing for `undefined`, `null` and `false`; lists are joined. */
export type HtmlValue = Html | string | number | undefined | null | false | readonly HtmlValue[];

/** Values are escaped for content and for attributes in double quotes: templates write every attribute so, and no value in a script or style. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = parts[0] ?? '';
  values.forEach((value, i) => {
    markup += render(value) + (parts[i + 1] ?? '');
  });
  return new Html(markup);
}

/** Markup of our own that no template made, such as a style sheet's address or a serialised document. */
export function trusted(markup: string): Html {
  return new Html(markup);
}

function render(value: HtmlValue): string {
  if (value instanceof Html) return value.markup;
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(stripControls(String(value)));
}

export function withCode(text: string): HtmlValue {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** Characters that neither HTML nor XML 1.0 may contain, and those that change the direction of the following text. */
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

/** Text without characters that markup cannot contain, or that would reorder the text around it. */
export function stripControls(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, '');
}

/** The address, if clicking on it is safe: it cannot run anything, and has no user or password, which could make it look like another host. */
export function safeUrl(address: string | undefined): string | undefined {
  if (address === undefined || address.length > 4000 || !/^(https?|mailto):/i.test(address)) return undefined;
  const parsed = URL.parse(address);
  return parsed === null || parsed.username !== '' || parsed.password !== '' ? undefined : address;
}

/** Text of at most `length` characters, cut at a nearby word end if there is one. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = cutText(text, length - 1);
  const space = cut.lastIndexOf(' ');
  return `${space > length * 0.6 ? cut.slice(0, space) : cut}…`;
}

/** Pieces of a text, each cut at the end of a line, sentence or word if one is near. @param length in code units: some hundreds at least */
export function inPieces(text: string, length: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const most = cutText(rest, length);
    const ends = ['\n', '. ', ' '].map((mark) => most.lastIndexOf(mark) + mark.length);
    const piece =
      most.length === rest.length
        ? rest
        : most.slice(
            0,
            ends.find((end) => end > length * 0.6),
          );
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}

/** The first of these that together fit in a number of bytes; `rest` counts the others. */
export function withinBytes(
  items: readonly Html[],
  bytes: number,
): { readonly items: readonly Html[]; readonly rest: number } {
  let left = bytes;
  const end = items.findIndex(({ markup }) => {
    left -= Buffer.byteLength(markup);
    return left < 0;
  });
  return end === -1 ? { items, rest: 0 } : { items: items.slice(0, end), rest: items.length - end };
}
