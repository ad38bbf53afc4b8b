/** Rewrites one value of a model into another model, and notes what is lost. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { Shape } from '../model-shape.ts';

/** `number`: one that is too large to be rewritten exactly; otherwise why the member is left out. */
export type LossReason = 'no-member' | 'no-value' | 'not-beside' | 'twice' | 'number';

type Path = readonly (string | number)[];

export interface Loss {
  /** From the value that was converted, by the names of its own model. */
  readonly path: Path;
  readonly reason: LossReason;
  /** Only a value that the model lists: others may be personal. */
  readonly value?: string;
}

/** Other names of members and of values. */
export interface Equivalents {
  readonly members: (name: string) => readonly string[];
  readonly values: (value: string) => readonly string[];
}

/** @param shapes of the value in both models; absent where a model describes none */
export function convertValue(
  whole: unknown,
  shapes: { readonly from: Shape | undefined; readonly to: Shape | undefined },
  equivalents: Equivalents,
): { readonly value: unknown; readonly losses: readonly Loss[] } {
  const losses: Loss[] = [];

  /** @returns `undefined` for a value that has no counterpart */
  const rewrite = (value: unknown, from: Shape | undefined, to: Shape, path: Path): unknown => {
    if (Array.isArray(value)) {
      const { items } = to;
      if (items === undefined) return value;
      return value
        .map((item, index) => rewrite(item, from?.items, items, [...path, index]))
        .filter((item) => item !== undefined);
    }
    if (isRecord(value)) return to.hasMembers ? rewriteObject(value, from, to, path) : value;
    if (to.allowed !== undefined) {
      const names = typeof value === 'string' ? [value, ...equivalents.values(value)] : [];
      const found = names.find((name) => to.allowed?.has(name));
      if (found !== undefined) return found;
      const isListed = typeof value === 'string' && from?.allowed?.has(value) === true;
      if (!isEmpty(value)) losses.push({ path, reason: 'no-value', ...(isListed ? { value } : {}) });
      return undefined;
    }
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) losses.push({ path, reason: 'number' });
    return value;
  };

  const rewriteObject = (value: JsonObject, from: Shape | undefined, to: Shape, path: Path): JsonObject => {
    const members = new Map<string, { readonly own: string; readonly value: unknown }>();
    for (const [own, member] of Object.entries(value)) {
      const at = [...path, own];
      const name = [own, ...equivalents.members(own)].find((candidate) => to.member(candidate) !== undefined);
      const shape = name === undefined ? undefined : to.member(name);
      if (name === undefined || shape === undefined || member === null) {
        if (!isEmpty(member)) losses.push({ path: at, reason: 'no-member' });
      } else if (members.has(name)) losses.push({ path: at, reason: 'twice' });
      else {
        const converted = rewrite(member, from?.member(own), shape, at);
        if (converted !== undefined) members.set(name, { own, value: converted });
      }
    }
    const rewritten = [...members].map(([name, member]): [string, unknown] => [name, member.value]);
    for (const { allows, isMet } of to.choices) {
      const kept = Object.fromEntries(rewritten.filter(([name]) => allows(name)));
      if (!isMet(kept)) continue;
      for (const [name, { own, value: lost }] of members)
        if (!allows(name) && !isEmpty(lost)) losses.push({ path: [...path, own], reason: 'not-beside' });
      return kept;
    }
    // When no choice matches, the model refuses the whole and gives the reason.
    return Object.fromEntries(rewritten);
  };

  return { value: shapes.to === undefined ? whole : rewrite(whole, shapes.from, shapes.to, []), losses };
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
