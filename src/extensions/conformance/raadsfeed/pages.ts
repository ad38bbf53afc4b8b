/** What is judged of any page: of the feed, the snapshot and the lists. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { Finding } from '../case.ts';
import type { Exchange } from '../client.ts';
import { objectsIn } from './subject.ts';

export const TOTALS = ['total', 'totaal', 'totalCount', 'totalRecords', 'totalPages', 'totalResults'];

export function numbersOf(page: unknown): readonly unknown[] {
  return objectsIn(page, 'records').map(({ sequenceNumber }) => sequenceNumber);
}

/** A number that a page does not keep to, with the name of the count. */
export function longerThan(page: unknown, list: string, most: number): Finding {
  const found = isRecord(page) && Array.isArray(page[list]) ? page[list].length : undefined;
  if (found === undefined) return { failed: `\`${list}\` is not a list` };
  return found <= most ? undefined : { failed: `\`${list}\` holds ${found} where ${most} is the most` };
}

/** A page without what its list holds, which has cases of its own. */
export function withoutItems(page: unknown, list: string): unknown {
  return isRecord(page) && Array.isArray(page[list]) ? { ...page, [list]: [] } : page;
}

/** A page of a list counts nothing. */
export function totalIn(pages: readonly { readonly page: JsonObject; readonly at: Exchange }[]): Finding {
  for (const { page, at } of pages) {
    const total = TOTALS.find((name) => Object.hasOwn(page, name));
    if (total !== undefined) return { failed: `the page has \`${total}\``, at };
  }
  return undefined;
}

/** The target of a link with this relation. @see RFC 8288 section 3 */
export function linkTo(header: string | undefined, relation: string): string | undefined {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const relations = /;\s*rel="?([^";,]+)"?/i.exec(parameters)?.[1]?.toLowerCase().split(/\s+/) ?? [];
    if (relations.includes(relation)) return target;
  }
  return undefined;
}
