import type { InvalidParam } from '../../kernel/problem.ts';

/** Members that are only read: in a request they are skipped, and may be anything of any depth. No other member has these names. */
const READ_ONLY = new Set(['url', 'actieId', 'verwerktObjectId', 'verwerkingsactiviteitId', 'tijdstipRegistratie']);

/** Deeper than any body of the contract; one that the contract refuses may go on for ever. */
const DEEPEST = 16;

/**
 * Names every text in a body that is half of a character pair: JSON can write it (`\ud800`), UTF-8 cannot, and the database would keep
 * something that it later cannot read.
 */
export function illFormedTexts(value: unknown): InvalidParam[] {
  return isWellFormed(value, DEEPEST) ? [] : findIllFormed(value, []);
}

/** Nearly always: so it is asked first, without keeping places. */
function isWellFormed(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (!isObject(value) || depth === 0) return true;
  if (Array.isArray(value)) return value.every((part) => isWellFormed(part, depth - 1));
  return Object.keys(value).every((name) => READ_ONLY.has(name) || isWellFormed(value[name], depth - 1));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function findIllFormed(value: unknown, path: readonly string[]): InvalidParam[] {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return [];
    return [{ name: path.join('.'), code: 'unicode', reason: 'is geen geldige Unicode-tekst' }];
  }
  if (!isObject(value) || path.length === DEEPEST) return [];
  return membersOf(value).flatMap(([key, part]) => findIllFormed(part, [...path, key]));
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([name]) => !READ_ONLY.has(name));
}
