import type { InvalidParam } from '../../kernel/problem.ts';

/** Members that are only read: in a request they are skipped, and may be anything of any depth. No other member has these names. */
const READ_ONLY = new Set(['url', 'actieId', 'verwerktObjectId', 'verwerkingsactiviteitId', 'tijdstipRegistratie']);

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
  return typeof value !== 'object' || value === null || membersOf(value).every(([, part]) => isWellFormed(part));
}

function findIllFormed(value: unknown, path: readonly string[]): InvalidParam[] {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return [];
    return [{ name: path.join('.'), code: 'unicode', reason: 'is geen geldige Unicode-tekst' }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return membersOf(value).flatMap(([key, part]) => findIllFormed(part, [...path, key]));
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([name]) => !READ_ONLY.has(name));
}
