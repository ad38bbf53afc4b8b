/** Follows the links of the pages as a reader does. */
import { expect } from 'vitest';
import { htmlFaults } from '../../support/html.ts';
import type { PagesServer } from './pages-fixture.ts';

/** Reads a page; it must be valid, and small enough for any phone. */
export async function readPage(pages: PagesServer, path: string): Promise<string> {
  const text = await readPageLike(pages, path);
  expect(await htmlFaults(text), path).toEqual([]);
  return text;
}

/** Reads a page; only some pages of its kind are validated, because validating takes longer than rendering. */
export async function readPageLike({ get }: PagesServer, path: string): Promise<string> {
  const { status, text } = await get(path);
  expect([path, status]).toEqual([path, 200]);
  expect(Buffer.byteLength(text), path).toBeLessThan(150_000);
  expect(text).not.toMatch(/En nog|\ufffd/);
  return text;
}

/** Parts of a list that are validated: the first, one in the middle, and one more. */
const VALIDATED_PARTS = 3;

const linksOf = (text: string): string[] =>
  [...(text.match(/<main[\s\S]*<\/main>/)?.[0] ?? '').matchAll(/href="\/raad(\/gm9901[^"]*)"/g)].map(([, path = '']) =>
    path.replaceAll('&amp;', '&'),
  );

/** All pages reachable by links from one, below the matching addresses. */
export async function crawl(pages: PagesServer, start: string, within: RegExp): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const waiting = [start];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const [address] = path.split('?');
    const parts = [...found.keys()].filter((one) => one.split('?')[0] === address).length;
    const text = await (parts < VALIDATED_PARTS ? readPage : readPageLike)(pages, path);
    found.set(path, text);
    waiting.push(
      ...linksOf(text)
        .map((one) => one.replace(/#.*/, ''))
        .filter((one) => within.test(one) && !one.endsWith('.csv')),
    );
  }
  return found;
}

/** Those of the given addresses that no page links to. */
export function missing(texts: Iterable<string>, ids: readonly string[]): string[] {
  const seen = new Set(
    [...texts].flatMap(linksOf).map((path) =>
      path
        .split('/')
        .at(-1)
        ?.replace(/[?#].*/, ''),
    ),
  );
  return ids.filter((id) => !seen.has(id));
}
