/** Rewrites one value of a model into another model, and notes what is lost. */
import { isRecord } from '../../../lib/json/json-value.ts';
import type { Shape } from '../model-shape.ts';

/**
 * Why something is lost.
 * - `no-member`: the other model has no such member
 * - `no-value`: the other model has no such value
 * - `not-beside`: the other model does not allow the member beside others that are there
 * - `twice`: another member has that name already
 * - `number`: a number that is too large to be rewritten exactly
 */
export type LossReason = 'no-member' | 'no-value' | 'not-beside' | 'twice' | 'number';

/** Something that has no place in the other model. */
export interface Loss {
  /** From the value that was converted, by the names of its own model. */
  readonly path: readonly (string | number)[];
  readonly reason: LossReason;
  /** Only a value that the own model lists: others may be personal. */
  readonly value?: string;
}

export interface Converted {
  readonly value: unknown;
  /** Whether anything differs from what was read. */
  readonly isChanged: boolean;
  readonly losses: readonly Loss[];
}

/** Names of the same thing in different models. */
export interface Equivalents {
  /** Every name of a member, itself included. */
  readonly members: (name: string) => readonly string[];
  readonly values: (value: string) => readonly string[];
}

interface Conversion {
  readonly equivalents: Equivalents;
  readonly losses: Loss[];
  isChanged: boolean;
}

type Path = readonly (string | number)[];

/** @param shapes what the models say of the value; absent where one says nothing */
export function convertValue(
  value: unknown,
  shapes: { readonly from: Shape | undefined; readonly to: Shape | undefined },
  equivalents: Equivalents,
): Converted {
  if (shapes.to === undefined) return { value, isChanged: false, losses: [] };
  const conversion: Conversion = { equivalents, losses: [], isChanged: false };
  const converted = rewrite(value, shapes.from, shapes.to, [], conversion);
  return { value: converted, isChanged: conversion.isChanged, losses: conversion.losses };
}

/** @returns `undefined` for a value that has no counterpart */
function rewrite(value: unknown, from: Shape | undefined, to: Shape, path: Path, conversion: Conversion): unknown {
  if (Array.isArray(value)) {
    const { items } = to;
    if (items === undefined) return value;
    return value
      .map((item, index) => rewrite(item, from?.items, items, [...path, index], conversion))
      .filter((item) => item !== undefined);
  }
  if (isRecord(value)) return to.hasMembers ? rewriteObject(value, from, to, path, conversion) : value;
  if (to.allowed !== undefined) return rewriteListed(value, from, to.allowed, path, conversion);
  if (typeof value === 'number' && !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value)))
    lose(conversion, { path, reason: 'number' });
  return value;
}

function rewriteObject(
  value: Record<string, unknown>,
  from: Shape | undefined,
  to: Shape,
  path: Path,
  conversion: Conversion,
): unknown {
  const members = new Map<string, { readonly own: string; readonly value: unknown }>();
  for (const [own, member] of Object.entries(value)) {
    const at = [...path, own];
    const names = [own, ...conversion.equivalents.members(own)];
    const name = names.find((candidate) => to.member(candidate) !== undefined);
    const shape = name === undefined ? undefined : to.member(name);
    if (name !== own) conversion.isChanged = true;
    if (name === undefined || shape === undefined || member === null) {
      conversion.isChanged = true;
      if (!isEmpty(member)) lose(conversion, { path: at, reason: 'no-member' });
    } else if (members.has(name)) {
      lose(conversion, { path: at, reason: 'twice' });
    } else {
      const converted = rewrite(member, from?.member(own), shape, at, conversion);
      if (converted !== undefined) members.set(name, { own, value: converted });
    }
  }
  const whole = Object.fromEntries([...members].map(([name, member]) => [name, member.value]));
  if (to.choices.length === 0) return whole;
  for (const { allows, isMet } of to.choices) {
    const kept = Object.fromEntries(Object.entries(whole).filter(([name]) => allows(name)));
    if (!isMet(kept)) continue;
    for (const [name, member] of members) {
      if (allows(name)) continue;
      conversion.isChanged = true;
      if (!isEmpty(member.value)) lose(conversion, { path: [...path, member.own], reason: 'not-beside' });
    }
    return kept;
  }
  // As it is, it will be refused by the model, which says why.
  return whole;
}

function rewriteListed(
  value: unknown,
  from: Shape | undefined,
  allowed: ReadonlySet<string>,
  path: Path,
  conversion: Conversion,
): string | undefined {
  const text = typeof value === 'string' ? value : undefined;
  if (text !== undefined && allowed.has(text)) return text;
  const other = text === undefined ? undefined : conversion.equivalents.values(text).find((name) => allowed.has(name));
  conversion.isChanged = true;
  if (other !== undefined) return other;
  const isListed = text !== undefined && from?.allowed?.has(text) === true;
  if (!isEmpty(value)) lose(conversion, { path, reason: 'no-value', ...(isListed ? { value: text } : {}) });
  return undefined;
}

function lose(conversion: Conversion, loss: Loss): void {
  conversion.losses.push(loss);
  conversion.isChanged = true;
}

/** Whether leaving it out loses nothing. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
