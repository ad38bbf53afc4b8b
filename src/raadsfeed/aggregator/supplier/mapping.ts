export function references(ids: readonly string[]): { readonly bronidentificatie: string }[] {
  return ids.map((bronidentificatie) => ({ bronidentificatie }));
}

interface Numbered {
  readonly id: string;
  /** "1.1": the only sign of nesting that some suppliers give. */
  readonly number: string | undefined;
}

/** The parent of each item: the one whose number is the longest proper prefix at a dot. */
export function nestByNumber(items: readonly Numbered[]): ReadonlyMap<string, string> {
  const byNumber = new Map(items.toReversed().map(({ id, number }) => [bareNumber(number), id]));
  byNumber.delete('');
  const parents = new Map<string, string>();
  for (const { id, number } of items) {
    let prefix = bareNumber(number);
    while (prefix.includes('.') && !parents.has(id)) {
      prefix = prefix.slice(0, prefix.lastIndexOf('.'));
      const parent = byNumber.get(prefix);
      if (parent !== undefined && parent !== id) parents.set(id, parent);
    }
  }
  return parents;
}

const MAX_NUMBER = 100;

/** "1.1." and " 1.1" are the same number. */
export function bareNumber(number: string | undefined): string {
  return (number ?? '').slice(0, MAX_NUMBER).replaceAll(/\s/g, '').replace(/\.+$/, '').toLowerCase();
}

/** Hidden items, and those nested in them at any depth. */
export function withNested(
  hidden: Iterable<string>,
  items: Iterable<readonly [id: string, parent: string | undefined]>,
): ReadonlySet<string> {
  const all = new Set(hidden);
  // Parents may form a cycle.
  for (let before = -1; before !== all.size; ) {
    before = all.size;
    for (const [id, parent] of items) if (parent !== undefined && all.has(parent)) all.add(id);
  }
  return all;
}
