/** Keeps identifiers of persons out of texts that are stored in plain text. */
import { isBsn } from '../../lib/patterns.ts';
import { bsnDigits } from '../domain/verwerkingsactie.ts';
import { EXCEPTION, type Span, subjectOf, writeValue } from './span.ts';

const MASK = '*********';
/** Shorter identifiers occur in any text by chance. */
const MIN_MASKED = 6;

/** A UUID or an IPv4 address, which is left as it is: masked, it would lead nowhere. */
const ADDRESS =
  /((?<![\p{L}\p{N}])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\p{L}\p{N}])|(?<!\p{Nd})(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?!\p{Nd}))/giu;
/** Nine digits of any script, with at most one space, dot or hyphen between two of them, and zero-width characters. */
const NUMBER = /(?<!\p{Nd})\p{Nd}(?:\p{Cf}*(?:[\p{Zs}.\p{Pd}]\p{Cf}*)?\p{Nd}){8}(?!\p{Nd})/gu;

/** Masks the identity of the line's own person and every possible BSN. The line that is kept encrypted has the whole text. */
export function withoutIdentifiers(text: string, span: Span): string {
  const id = subjectOf(span)?.objectId ?? '';
  const isIdentifier = (number: string): boolean => {
    const digits = bsnDigits(number) ?? '';
    return isBsn(digits) || digits === bsnDigits(id);
  };
  return (id.length < MIN_MASKED ? text : text.replaceAll(id, MASK))
    .split(ADDRESS)
    .map((part, i) => (i % 2 === 0 ? withoutNumbers(part, isIdentifier) : part))
    .join('');
}

function withoutNumbers(text: string, isIdentifier: (number: string) => boolean): string {
  let masked = '';
  let from = 0;
  NUMBER.lastIndex = 0;
  for (let found = NUMBER.exec(text); found !== null; found = NUMBER.exec(text)) {
    if (isIdentifier(found[0])) {
      masked += text.slice(from, found.index) + MASK;
      from = NUMBER.lastIndex;
    } else {
      // A number may begin at a later group of these digits.
      NUMBER.lastIndex = found.index + 1;
    }
  }
  return masked + text.slice(from);
}

const MAX_ERROR = 4096;

/** The line with error texts that name no person and are not so long that the line is refused for them. */
export function withGuardedErrors(span: Span): Span {
  if (!EXCEPTION.some((name) => span.attributes.has(name))) return span;
  const attributes = new Map(span.attributes);
  for (const name of EXCEPTION) {
    const value = attributes.get(name);
    if (value === undefined) continue;
    // A text by the conventions of OpenTelemetry; any other value is kept as JSON, and masked in the same way.
    const text = typeof value === 'string' ? value : JSON.stringify(writeValue(value));
    attributes.set(name, cut(withoutIdentifiers(text, span), MAX_ERROR));
  }
  return { ...span, attributes };
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
