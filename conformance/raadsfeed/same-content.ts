import { canonicalJson } from '../../src/lib/json/canonical-json.ts';

/** True when two resources are equal, apart from addresses that a service adds. */
export function isSameContent(one: unknown, other: unknown): boolean {
  const text = (value: unknown): string =>
    canonicalJson(
      JSON.parse(JSON.stringify(value ?? null), (name, member: unknown) => (name === 'url' ? undefined : member)),
    );
  return text(one) === text(other);
}
