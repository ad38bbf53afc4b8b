import { MEMBERS, type Member, type Part } from './member-table.ts';

export { MEMBERS, type Part };

type Members = typeof MEMBERS;
export type MemberName = keyof Members;
type Having<Property> = { [Name in MemberName]: Members[Name] extends Property ? Name : never }[MemberName];
export type OptionalName = Having<{ optional: true }>;

const TABLE: Readonly<Record<MemberName, Member>> = MEMBERS;
const isName = (name: string): name is MemberName => Object.hasOwn(TABLE, name);
export const MEMBER_NAMES: readonly MemberName[] = Object.keys(TABLE).filter(isName);

export const OPTIONAL_NAMES = MEMBER_NAMES.filter((name): name is OptionalName => TABLE[name].optional === true);
export const HISTORY_NAMES = MEMBER_NAMES.filter(
  (name): name is Having<{ history: true }> => TABLE[name].history === true,
);
export const BASIS_NAMES = MEMBER_NAMES.filter(
  (name): name is Having<{ part: 'basis' }> => TABLE[name].part === 'basis',
);
export const ANSWERED_NAMES = MEMBER_NAMES.filter(
  (name): name is Having<{ part: 'basis' | 'aanvullend' }> =>
    TABLE[name].part === 'basis' || TABLE[name].part === 'aanvullend',
);

export const PROOF_FORMAT = Math.max(...MEMBER_NAMES.map((name) => TABLE[name].since ?? 1));

/** The members of a part in a format of the proof, in their canonical order. */
export function provenNames(part: Part, format: number): readonly MemberName[] {
  return MEMBER_NAMES.filter((name) => TABLE[name].part === part && (TABLE[name].since ?? 1) <= format).sort();
}

export function nulls<Name extends string>(names: readonly Name[]): Record<Name, null> {
  // Each name has just been given its value.
  return Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>;
}
