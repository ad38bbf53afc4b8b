/**
 * The JSON Canonicalization Scheme (RFC 8785) for values that `JSON.parse` made: members sorted by UTF-16 code units, no space;
 * numbers and texts exactly as ECMAScript writes them.
 * @throws {TypeError} on a lone surrogate, which has no canonical form (RFC 8785 section 3.2.2.2)
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return canonicalText(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // The default order of `sort` is that of UTF-16 code units.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${canonicalText(name)}:${canonicalJson(member)}`).join(',')}}`;
}

function canonicalText(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('a text holds half of a surrogate pair');
  return JSON.stringify(text);
}
