/** Rules of mapping that suppliers share. */
import type { IssueSink } from './issue-log.ts';
import type { SaidStatus } from './said-status.ts';

/** Raise it when the same answers give other records: unmodified items are then read again, in quick rounds too. */
const MAPPING = 2;

/** The supplier's mark of a change, with the version of the mapping. */
export function stampOf(supplied: string | undefined): string | null {
  return supplied === undefined ? null : `${MAPPING} ${supplied}`;
}

export function references(ids: readonly string[]): { readonly bronidentificatie: string }[] {
  return ids.map((bronidentificatie) => ({ bronidentificatie }));
}

/** An end needs a start before it. Both RFC 3339 in UTC. */
export function endOf(start: string | undefined, end: string | undefined, issue: IssueSink): string | undefined {
  if (end === undefined || (start !== undefined && end >= start)) return end;
  issue('unusable-value', start === undefined ? 'end_date: an end without a start' : 'end_date: before the start');
  return undefined;
}

interface Planned {
  /** Absent: its status follows from its day. */
  readonly said: SaidStatus | undefined;
  /** Its end, or else its beginning; RFC 3339 in UTC. */
  readonly moment: string | undefined;
  readonly day: string | undefined;
}

/** `vergaderstatus`, and the moment at which `gepland` becomes `gehouden`; `null`: never. */
export function statusOf(
  { said, moment, day }: Planned,
  now: Date,
): { readonly name: string | undefined; readonly changesAt: string | null } {
  if (said !== undefined) return { name: said === 'unclear' ? undefined : said, changesAt: null };
  const changesAt = moment ?? (day === undefined ? undefined : `${day}T23:00:00Z`);
  if (changesAt === undefined) return { name: undefined, changesAt: null };
  return Date.parse(changesAt) > now.getTime() ? { name: 'gepland', changesAt } : { name: 'gehouden', changesAt: null };
}

interface Numbered {
  readonly id: string;
  /** "1.1": the only sign of nesting that some suppliers give. */
  readonly number: string | undefined;
}

/** The parent of each item: the one whose number is the longest proper prefix at a dot. */
export function nestByNumber(items: readonly Numbered[]): ReadonlyMap<string, string> {
  const byNumber = new Map<string, string>();
  for (const { id, number } of items) {
    const bare = bareNumber(number);
    if (bare !== '' && !byNumber.has(bare)) byNumber.set(bare, id);
  }
  const parents = new Map<string, string>();
  for (const { id, number } of items) {
    const steps = bareNumber(number).split('.');
    for (let length = steps.length - 1; length > 0; length -= 1) {
      const parent = byNumber.get(steps.slice(0, length).join('.'));
      if (parent === undefined || parent === id) continue;
      parents.set(id, parent);
      break;
    }
  }
  return parents;
}

const MAX_NUMBER = 100;

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

/** "1.1." and " 1.1" are the same number. */
export function bareNumber(number: string | undefined): string {
  return (number ?? '').slice(0, MAX_NUMBER).replaceAll(/\s/g, '').replace(/\.+$/, '').toLowerCase();
}
