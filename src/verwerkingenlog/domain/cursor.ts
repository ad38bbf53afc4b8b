/** The position of a page: after a row in the order of the list, or before it. */
export interface Cursor {
  readonly direction: 'after' | 'before';
  readonly key: readonly string[];
}

interface Page<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
  readonly previous: string | null;
}

export function readCursor(text: string, parts: readonly RegExp[]): Cursor | undefined {
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
 * @param url of the request; its other parameters stay in the addresses of the neighbours
 */
export function pageOf<T>(
  found: readonly T[],
  { limit, cursor, keyOf }: { limit: number; cursor: Cursor | undefined; keyOf: (row: T) => readonly string[] },
  { address, url }: { readonly address: string; readonly url: string },
): Page<T> {
  const isBackward = cursor?.direction === 'before';
  const isCut = found.length > limit;
  const shown = found.slice(0, limit);
  const rows = isBackward ? shown.toReversed() : shown;
  const linkAt = (direction: Cursor['direction'], row: T | undefined): string | null => {
    if (row === undefined) return null;
    const key = JSON.stringify([direction === 'after' ? 1 : 0, ...keyOf(row)]);
    const query = new URLSearchParams(url.split('?', 2)[1] ?? '');
    query.set('cursor', Buffer.from(key).toString('base64url'));
    return `${address}?${query.toString()}`;
  };
  return {
    rows,
    next: isBackward || isCut ? linkAt('after', rows.at(-1)) : null,
    previous: (isBackward ? isCut : cursor !== undefined) ? linkAt('before', rows.at(0)) : null,
  };
}
