/**
 * Generated parts of documents: between `<!-- NAME: written by … -->` and `<!-- end of NAME -->`, or the end of the
 * page.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/**
 * The page with this text as its part.
 * @throws {Error} when the page has no place for it
 */
export function withPart(page: string, name: string, text: string): string {
  const part = new RegExp(`(<!-- ${name}: written by [^>]+-->\n\n).*?(\n\n<!-- end of ${name} -->|\n$)`, 's');
  if (!part.test(page)) throw new Error(`the page has no place for ${name}`);
  return page.replace(part, (_found, begin: string, end: string) => begin + text + end);
}

/** Writes the text into a document, named from the root of the repository. */
export function writePart(document: string, name: string, text: string): void {
  const path = join(ROOT, document);
  writeFileSync(path, withPart(readFileSync(path, 'utf8'), name, text));
}
