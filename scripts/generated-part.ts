/**
 * Generated parts of documents: between `<!-- NAME: written by … -->` and `<!-- end of NAME -->`, or the end of the
 * page.
 */

/**
 * The page with this text as its part.
 * @throws {Error} when the page has no place for it
 */
export function withPart(page: string, name: string, text: string): string {
  const part = new RegExp(`(<!-- ${name}: written by [^>]+-->\n\n).*?(\n\n<!-- end of ${name} -->|\n$)`, 's');
  if (!part.test(page)) throw new Error(`the page has no place for ${name}`);
  return page.replace(part, (_found, begin: string, end: string) => begin + text + end);
}

/** A table in Markdown. */
export function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.toSpliced(1, 0, `|${'---|'.repeat(columns.length)}`).join('\n');
}
