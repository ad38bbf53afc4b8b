/** Checks for any page: of the feed, the snapshot or the lists. */
import { isRecord } from '../../src/lib/json/json-value.ts';
import type { CaseRun, Finding, SuiteSubject } from '../case.ts';
import { objectsIn, textAt } from '../json-members.ts';

const TOTALS = ['total', 'totaal', 'totalCount', 'totalRecords', 'totalPages', 'totalResults'];

export function numbersOf(page: unknown): readonly unknown[] {
  return objectsIn(page, 'records').map(({ sequenceNumber }) => sequenceNumber);
}

/** Why a list on a page is longer than it may be. */
export function longerThan(page: unknown, list: string, most: number): string | undefined {
  const found = isRecord(page) && Array.isArray(page[list]) ? page[list].length : undefined;
  if (found === undefined) return `\`${list}\` is not a list`;
  return found <= most ? undefined : `\`${list}\` has ${found} elements; the maximum is ${most}`;
}

/** A page without the contents of its list, which other cases check. */
export function withoutItems(page: unknown, list: string): unknown {
  return isRecord(page) && Array.isArray(page[list]) ? { ...page, [list]: [] } : page;
}

/** A page of a list has no totals. */
export function totalIn(page: unknown): string | undefined {
  const total = TOTALS.find((name) => isRecord(page) && Object.hasOwn(page, name));
  return total && `the page has \`${total}\``;
}

/** The query parameter for the page at this cursor. */
export function startingAt(cursor = ''): string {
  return `cursor=${encodeURIComponent(cursor)}`;
}

/** The query parameter for the page after this one. */
export function after(page: unknown): string {
  return startingAt(textAt(page, 'cursor'));
}

/**
 * The target of a link with this relation.
 * @see RFC 8288 section 3
 */
export function linkTo(header: string | undefined, relation: string): string | undefined {
  for (const [, target = '', parameters = ''] of (header ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    const relations = /;\s*rel="?([^";,]+)"?/i.exec(parameters)?.[1]?.toLowerCase().split(/\s+/) ?? [];
    if (relations.includes(relation)) return target;
  }
  return undefined;
}

/**
 * Checks that an organisation code may be in upper case.
 * @param what the listed resources
 */
export const isTheSameInUpperCase =
  (addressOf: (code: string) => string, what: string, listed: (page: unknown) => readonly unknown[]) =>
  async ({ values: { organisation = '' } }: SuiteSubject, { ask }: CaseRun): Promise<Finding> => {
    const lower = await ask({ to: addressOf('{organisation}') });
    const upper = await ask({ to: addressOf(organisation.toUpperCase()) });
    if (upper.status === 200 && listed(lower.json).join() === listed(upper.json).join()) return undefined;
    return `in upper case the answer has status ${upper.status} and different ${what}`;
  };
