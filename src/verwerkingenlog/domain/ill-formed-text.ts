import type { InvalidParam } from '../../kernel/problem.ts';

/**
 * Names every text in a body that is half of a character pair: JSON can write it (`\ud800`), UTF-8 cannot, and the database would keep
 * something that it later cannot read.
 */
export function illFormedTexts(value: unknown): InvalidParam[] {
  return isWellFormed(value) ? [] : findIllFormed(value, []);
}

/** Nearly always: so it is asked first, without keeping places. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value !== 'object' || value === null || Object.values(value).every(isWellFormed);
}

function findIllFormed(value: unknown, path: readonly string[]): InvalidParam[] {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return [];
    return [{ name: path.join('.'), code: 'unicode', reason: 'is geen geldige Unicode-tekst' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => findIllFormed(part, [...path, key]));
}
