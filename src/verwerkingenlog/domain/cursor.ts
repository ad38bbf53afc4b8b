/** Pages of a list: an opaque cursor names the row that a page begins after, or ends before. */

/** The position of a page: after a row in the order of the list, or before it. */
export interface Cursor<K extends readonly string[]> {
  readonly direction: 'after' | 'before';
  readonly key: K;
}

export interface Page<T> {
  readonly rows: readonly T[];
  readonly next: boolean;
  readonly previous: boolean;
}

export function writeCursor({ direction, key }: Cursor<readonly string[]>): string {
  return Buffer.from(JSON.stringify([direction === 'after' ? 1 : 0, ...key])).toString('base64url');
}

/** @returns undefined for a text that is not a cursor with this number of parts */
export function readCursor(text: string, parts: readonly RegExp[]): Cursor<readonly string[]> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length !== parts.length + 1) return undefined;
  const [direction, ...key] = value;
  if (direction !== 0 && direction !== 1) return undefined;
  const texts = key.filter((part) => typeof part === 'string');
  if (!parts.every((form, i) => form.test(texts[i] ?? ''))) return undefined;
  return { direction: direction === 1 ? 'after' : 'before', key: texts };
}

/**
 * Cuts the page from rows read in the direction of the cursor, one more than its limit.
 * @param rows in the order of reading: with `before` the reverse of the order of the list
 */
export function pageOf<T>(rows: readonly T[], limit: number, direction: 'after' | 'before' | undefined): Page<T> {
  const more = rows.length > limit;
  const shown = rows.slice(0, limit);
  if (direction === 'before') return { rows: shown.toReversed(), next: true, previous: more };
  return { rows: shown, next: more, previous: direction === 'after' };
}
