/**
 * Reads answers by a schema, as far as they can be used: the supplier guarantees nothing. Deviations are reported, and left out or replaced by the
 * value that the schema names.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { isRecord } from '../../../lib/json/json-value.ts';
import type { IssueKind, IssueSink } from './issue-log.ts';

/** How a deviation is reported, and its replacement. Default: `unexpected-answer`, and none. */
interface Deviation {
  readonly what?: IssueKind;
  readonly value?: unknown;
}

export interface AnswerSchema<T = unknown> {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, AnswerSchema>>;
  readonly absent?: Deviation;
  readonly wrong?: Deviation;
  /** An object without a usable value of this member is left out. */
  readonly identity?: true;
  /** Whether a value hides the object that has it. Texts and numbers stay as they are, so that an empty one is not absent. */
  readonly mark?: (value: unknown) => boolean;
  /** Only for the type of a valid value. */
  readonly type_?: T;
}

export type ValueOf<S> = S extends AnswerSchema<infer T> ? T : never;

/** A positive integer, as a number or text. */
export const ID: AnswerSchema<string> = { type: 'string', pattern: '^[1-9]\\d{0,17}$' };
/** An object without it is left out. */
export const IDENTITY: AnswerSchema<string> = { ...ID, identity: true };
export const TEXT: AnswerSchema<string> = { type: 'string', wrong: { what: 'unusable-value' } };
export const COUNT: AnswerSchema<number> = { type: 'integer', minimum: 0, wrong: { what: 'unusable-value' } };
/** Its caller reports faults. */
export const ANY: AnswerSchema = {};

export type Flag = 0 | 1 | '0' | '1' | boolean;

/** An unknown value does not cancel a meeting. */
export const CANCELLED: AnswerSchema<Flag> = {
  enum: [0, 1, '0', '1', false, true],
  absent: { what: 'unusable-value', value: 0 },
  wrong: { what: 'unusable-value', value: 0 },
};
/** A mark that hides. An unknown value hides; a missing one does not, except for `permission_group`. */
export const FLAG: AnswerSchema<Flag> = {
  ...CANCELLED,
  wrong: { what: 'unusable-value', value: 1 },
  mark: (value) => value !== 0 && value !== '0' && value !== false,
};
export function isSet(flag: Flag | undefined): boolean {
  return Number(flag) === 1;
}

/** A required list that is absent counts as empty. Its reading is incomplete, unless its holder is hidden: the list may still have had items. */
export function listOf<T>(items: AnswerSchema<T>): AnswerSchema<readonly T[]> {
  return { type: 'array', items, absent: { value: [] }, wrong: { value: [] } };
}

/** As `listOf`, for details whose absence withdraws nothing. */
export function detailsOf<T>(items: AnswerSchema<T>): AnswerSchema<readonly T[]> {
  return { ...listOf(items), absent: { what: 'unusable-value', value: [] } };
}

type Members = Readonly<Record<string, AnswerSchema>>;
type ObjectOf<R extends Members, O extends Members> = { readonly [K in keyof R]: ValueOf<R[K]> } & {
  readonly [K in keyof O]?: ValueOf<O[K]>;
};

/** An object that may be empty may be written as an empty list. An absent required member is reported. */
export function objectOf<const R extends Members, const O extends Members = Record<never, AnswerSchema>>(
  required: R,
  optional?: O,
): AnswerSchema<ObjectOf<R, O>> {
  const properties = { ...required, ...optional };
  const names = Object.keys(required);
  // JSON Schema requires no member of a list.
  if (names.length > 0) return { type: 'object', properties, required: names };
  return { type: ['object', 'array'], maxItems: 0, properties };
}

export type AnswerReader<T> = (raw: unknown, issue: IssueSink, name?: string) => T | undefined;

/** A hostile answer must not exhaust the stack. A level is a list with its objects. */
const MAX_LEVELS = 50;

const ajv = new Ajv2020({ allErrors: true, verbose: true, coerceTypes: true, strict: false, validateSchema: false });

/**
 * Trims texts; empty texts and `null` are absent.
 * @param complete may fill in members of any object before the check
 * @returns a reader, which gives `undefined` for an unusable answer
 */
export function createReader<T>(
  schema: AnswerSchema<T>,
  complete?: (object: Record<string, unknown>) => void,
): AnswerReader<T> {
  // Compiled at the first answer: a process reads few suppliers, or none.
  let compiled: ValidateFunction<T> | undefined;
  const marks = marksIn(schema);
  return (raw, issue, name) => {
    compiled ??= ajv.compile<T>(schema);
    const validate = compiled;
    const root: { answer?: unknown } = { answer: clean(raw, { issue, complete, marks }, 'answer', 0) };
    const about: IssueSink = (what, detail) => {
      const id = isRecord(root.answer) ? root.answer.id : undefined;
      issue(what, name === undefined || id === undefined ? detail : `${name} ${String(id)}: ${detail}`);
    };
    if (validate(root.answer)) return root.answer;
    for (const error of validate.errors ?? []) repair(root, error, marks, about);
    const answer = withoutGaps(root.answer);
    if (validate(answer)) return answer;
    if (answer !== undefined) about('unexpected-answer', 'cannot be read');
    return undefined;
  };
}

type Marks = ReadonlyMap<string, (value: unknown) => boolean>;

function marksIn(schema: AnswerSchema, name = ''): Marks {
  const below = Object.entries(schema).flatMap(([key, member]) => (isRecord(member) ? [...marksIn(member, key)] : []));
  return new Map(schema.mark === undefined ? below : [[name, schema.mark], ...below]);
}

interface Cleaning {
  readonly issue: IssueSink;
  readonly complete?: ((object: Record<string, unknown>) => void) | undefined;
  readonly marks: Marks;
}

/** PHP writes an empty list as `{}` and an empty object as `[]`: both become `[]`, or are absent. */
function clean(value: unknown, cleaning: Cleaning, name: string, depth: number): unknown {
  if (typeof value !== 'object' && cleaning.marks.has(name)) return value;
  if (typeof value === 'string') {
    const text = value.replaceAll('\0', '').trim().toWellFormed();
    return text === '' ? undefined : text;
  }
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : value;
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  if (depth > 2 * MAX_LEVELS) {
    const isEmpty = Object.keys(value).length === 0;
    if (!isEmpty)
      cleaning.issue('unexpected-answer', `${name.replaceAll('_', ' ')} are nested deeper than ${MAX_LEVELS}`);
    return Array.isArray(value) ? [] : undefined;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => clean(item, cleaning, name, depth + 1) ?? null);
  if (depth > 0 && Object.keys(value).length === 0) return [];
  const members = Object.entries(value).map(([key, member]) => [key, clean(member, cleaning, key, depth + 1)] as const);
  // By `fromEntries`, so that `__proto__` is a member like any other.
  const copy: Record<string, unknown> = Object.fromEntries(members.filter(([, member]) => member !== undefined));
  cleaning.complete?.(copy);
  return copy;
}

function repair(root: object, error: ErrorObject, marks: Marks, issue: IssueSink): void {
  const path = ['answer', ...error.instancePath.split('/').slice(1)];
  const schema: AnswerSchema = error.parentSchema ?? {};
  const missing: unknown = error.params.missingProperty;
  const isMissing = error.keyword === 'required' && typeof missing === 'string';
  const member = isMissing ? (schema.properties?.[missing] ?? {}) : schema;
  const deviation = (isMissing ? member.absent : member.wrong) ?? {};
  const { value } = deviation;
  const isOfHidden = isMissing && member.type === 'array' && isInHidden(root, path, marks);
  const what = isOfHidden ? 'unusable-value' : (deviation.what ?? 'unexpected-answer');
  const at = isMissing ? [...path, missing] : path;
  issue(what, describe(root, at, isMissing ? undefined : (error.message ?? 'is not known')));
  replace(root, member.identity === true ? at.slice(0, -1) : at, value);
}

function isInHidden(root: unknown, path: readonly string[], marks: Marks): boolean {
  let value = root;
  return path.some((key) => {
    value = memberOf(value, key);
    return [...marks].some(([name, hides]) => isRecord(value) && value[name] !== undefined && hides(value[name]));
  });
}

/** `agenda item 201: document 5: has no versions`. */
function describe(root: object, path: readonly string[], fault: string | undefined): string {
  const around: string[] = [];
  let value: unknown = root;
  for (const [i, key] of path.slice(0, -1).entries()) {
    value = memberOf(value, key);
    if (i === 0 || !isRecord(value) || !/^\d+$/.test(key)) continue;
    const list = path[i - 1] ?? '';
    const one = `${list.replaceAll('_', ' ').replace(/s$/, '')} ${String(value.id)}`;
    around.push(value.id === undefined ? `one of ${list}: ` : `${one}: `);
  }
  const last = path.at(-1) ?? '';
  const name = /^\d+$/.test(last) ? `one of ${path.at(-2)}` : last;
  return around.join('') + (fault === undefined ? `has no ${name}` : `${name} ${fault}`);
}

function memberOf(holder: unknown, key: string): unknown {
  if (Array.isArray(holder)) return holder[Number(key)];
  return isRecord(holder) ? holder[key] : undefined;
}

function replace(root: object, path: readonly string[], value: unknown): void {
  const holder = path.slice(0, -1).reduce<unknown>(memberOf, root);
  const key = path.at(-1) ?? '';
  if (Array.isArray(holder)) holder[Number(key)] = value;
  else if (isRecord(holder)) Object.assign(holder, { [key]: structuredClone(value) });
}

function withoutGaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== undefined).map(withoutGaps);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, withoutGaps(member)]),
  );
}
