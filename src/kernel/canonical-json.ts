/**
 * The JSON Canonicalization Scheme (RFC 8785) for values that `JSON.parse` made: members sorted by UTF-16 code units, no space;
 * numbers and texts exactly as ECMAScript writes them.
 * @throws {TypeError} on a lone surrogate, which has no canonical form (RFC 8785 section 3.2.2.2)
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return canonicalText(value);
  if (!isObject(value)) return JSON.stringify(value);
  // Every feed record passes here, and appending to one text is much faster than joining arrays.
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += (text === '' ? '[' : ',') + canonicalJson(item);
    return text === '' ? '[]' : `${text}]`;
  }
  // The default order of `sort` is that of UTF-16 code units.
  for (const name of Object.keys(value).sort()) {
    text += `${(text === '' ? '{' : ',') + canonicalText(name)}:${canonicalJson(value[name])}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Texts that are written as they are: nearly all. */
const PLAIN = /^[ !#-[\]-~]*$/;

function canonicalText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) throw new TypeError('a text holds half of a surrogate pair');
  return JSON.stringify(text);
}
