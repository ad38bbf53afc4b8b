import { canonicalJson } from '../../src/lib/json/canonical-json.ts';

/** Whether two resources are the same; the addresses that a service adds do not count. */
export function isSameContent(one: unknown, other: unknown): boolean {
  const text = (value: unknown): string =>
    canonicalJson(
      JSON.parse(JSON.stringify(value ?? null), (name, member: unknown) => (name === 'url' ? undefined : member)),
    );
  return text(one) === text(other);
}
