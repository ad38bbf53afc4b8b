/** Levels of objects and lists in each other at most: writing JSON takes a stack frame for each, and no resource has a tenth of them. */
export const MAX_DEPTH = 100;

/**
 * Why a value that `JSON.parse` made cannot be written as it was read, or `undefined`. Goes level by level, so that no depth is too much
 * for the stack.
 */
export function unwritable(value: unknown): string | undefined {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
    const inner: unknown[] = [];
    for (const item of level) {
      // Read as infinite, and it would be written as `null`.
      if (typeof item === 'number' && !Number.isFinite(item))
        return 'has a number that is too large for JSON to be read';
      if (typeof item !== 'object' || item === null) continue;
      for (const member of Object.values(item)) {
        if (typeof member === 'object' || typeof member === 'number') inner.push(member);
      }
    }
    level = inner;
  }
  return undefined;
}
