/**
 * A parameter for `$n::kind[]` in text form. pg writes one too, but looks for what must be escaped by replacing, twice for each text,
 * which is most of what a large insert costs here.
 * @see textArray for texts that are full of quotes
 */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map(element).join(',')}}`;
}

function element(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value);
  return value.includes('"') || value.includes('\\') ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`;
}
