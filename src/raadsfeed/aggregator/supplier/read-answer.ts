/** Reads answers as far as they can be used: the supplier guarantees nothing. Deviations are reported, and left out or replaced. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import { lineOfHtml, textOfHtml } from './html-text.ts';
import type { IssueKind, IssueSink } from './issue-log.ts';

/** How a deviation is reported, and its replacement. Default: `unexpected-answer`, and none. */
interface Deviation {
  readonly what?: IssueKind;
  readonly value?: unknown;
}

interface Place {
  readonly issue: IssueSink;
  readonly name: string;
  /** The objects around it, for people: `agenda item 201: document 5: `. */
  readonly around: string;
  readonly level: number;
  /** Something around it is not public. */
  readonly isHidden: boolean;
}

/** `undefined`: left out, and reported already. */
type Result<T> = { readonly value: T | undefined } | { readonly fault: string };

export interface AnswerSchema<T = unknown> {
  readonly read: (given: unknown, place: Place) => Result<T>;
  readonly absent?: Deviation;
  readonly wrong?: Deviation;
  /** Whether a value hides the object that has it; an object always does. Such texts are not trimmed, so that an empty one is not absent. */
  readonly hides?: (given: unknown) => boolean;
  readonly isList?: true;
}

export type ValueOf<S> = S extends AnswerSchema<infer T> ? T : never;

export const UNUSABLE = { what: 'unusable-value' } as const;

/** Numbers are texts too. */
export function textLike(pattern: RegExp): AnswerSchema<string> {
  return {
    read: (given) => {
      if (typeof given === 'object') return { fault: 'must be string' };
      const value = String(given);
      return pattern.test(value) ? { value } : { fault: `must match pattern "${pattern.source}"` };
    },
  };
}

/** A positive integer, as a number or text. */
export const ID = textLike(/^[1-9]\d{0,17}$/);
export const STRING = textLike(/^/);
export const TEXT: AnswerSchema<string> = { ...STRING, wrong: UNUSABLE };

function plain(toText: (html: string) => string | undefined): AnswerSchema<string> {
  return {
    read: (given, place) => {
      const read = TEXT.read(given, place);
      return 'fault' in read ? read : { value: toText(read.value ?? '') };
    },
    wrong: UNUSABLE,
  };
}

/** Possible HTML, as plain text; a name is one line. */
export const HTML = plain(textOfHtml);
export const NAME = plain(lineOfHtml);
export const COUNT: AnswerSchema<number> = {
  read: (given) => {
    const value = typeof given === 'object' ? Number.NaN : Number(given);
    return Number.isSafeInteger(value) && value >= 0 ? { value } : { fault: 'must be integer' };
  },
  wrong: UNUSABLE,
};
export const ANY: AnswerSchema = { read: (value) => ({ value }) };

const YES: readonly unknown[] = [1, '1', true];
const NO: readonly unknown[] = [0, '0', false];

function flag(unknown: boolean): AnswerSchema<boolean> {
  return {
    read: (given) => {
      if (YES.includes(given)) return { value: true };
      return NO.includes(given) ? { value: false } : { fault: 'must be equal to one of the allowed values' };
    },
    absent: { ...UNUSABLE, value: false },
    wrong: { ...UNUSABLE, value: unknown },
  };
}

/** An unknown value does not cancel a meeting. */
export const CANCELLED = flag(false);
/** A mark that hides. An unknown value hides; a missing one does not. */
export const FLAG: AnswerSchema<boolean> = { ...flag(true), hides: (given) => !NO.includes(given) };

/** A hostile answer must not exhaust the stack. */
const MAX_LEVELS = 50;

/** A required list that is absent counts as empty. Its reading is incomplete, unless its holder is hidden: the list may still have had items. */
export function listOf<T>(items: AnswerSchema<T>): AnswerSchema<readonly T[]> {
  return {
    isList: true,
    absent: { value: [] },
    wrong: { value: [] },
    read: (given, place) => {
      if (!Array.isArray(given)) return { fault: 'must be array' };
      const { name, around, level, issue } = place;
      const kind = name.replaceAll('_', ' ');
      if (given.length > 0 && level >= MAX_LEVELS) {
        issue('unexpected-answer', `${kind} are nested deeper than ${MAX_LEVELS}`);
        return { value: [] };
      }
      const value: T[] = [];
      for (const raw of given) {
        const item = clean(raw);
        const id = idOf(item);
        const one = id === undefined ? `one of ${name}: ` : `${kind.replace(/s$/, '')} ${id}: `;
        const read = items.read(item ?? null, { ...place, around: around + one, level: level + 1 });
        if ('fault' in read) issue('unexpected-answer', `${around}one of ${name} ${read.fault}`);
        else if (read.value !== undefined) value.push(read.value);
      }
      return { value };
    },
  };
}

/** As `listOf`, for details whose absence withdraws nothing. */
export function detailsOf<T>(items: AnswerSchema<T>): AnswerSchema<readonly T[]> {
  return { ...listOf(items), absent: { ...UNUSABLE, value: [] } };
}

type Members = Readonly<Record<string, AnswerSchema>>;
type ObjectOf<R extends Members, O extends Members> = { readonly [K in keyof R]: ValueOf<R[K]> } & {
  readonly [K in keyof O]?: ValueOf<O[K]>;
};

/** An absent required member is reported; without it, or a replacement, the object is left out. One that may be empty may be an empty list. */
export function objectOf<const R extends Members, const O extends Members = Record<never, AnswerSchema>>(
  required: R,
  optional?: O,
): AnswerSchema<ObjectOf<R, O>> {
  const names = Object.keys(required);
  const members = Object.entries<AnswerSchema>({ ...required, ...optional });
  const isWhole = (found: object): found is ObjectOf<R, O> => names.every((name) => Object.hasOwn(found, name));
  return {
    read: (given, place) => {
      const isEmptyList = Array.isArray(given) && given.length === 0 && names.length === 0;
      const object = isEmptyList ? {} : given;
      if (!isRecord(object)) return { fault: 'must be object' };
      const shown = members.map(([name, schema]) => {
        const raw = (Object.hasOwn(object, name) ? object[name] : undefined) ?? undefined;
        return { name, schema, raw: schema.hides === undefined ? clean(raw) : raw };
      });
      const isHidden = shown.some(({ schema: { hides }, raw }) => {
        return hides !== undefined && raw !== undefined && (typeof raw === 'object' || hides(raw));
      });
      const inside = { ...place, isHidden: place.isHidden || isHidden };
      const found: Record<string, unknown> = {};
      for (const { name, schema, raw } of shown) {
        const value = readMember(raw, schema, Object.hasOwn(required, name), { ...inside, name });
        if (value !== undefined) found[name] = value;
      }
      return { value: isWhole(found) ? found : undefined };
    },
  };
}

function readMember(given: unknown, schema: AnswerSchema, isRequired: boolean, place: Place): unknown {
  const { issue, around, name, isHidden } = place;
  const { absent = {}, wrong = {}, isList } = schema;
  if (given === undefined) {
    if (!isRequired) return undefined;
    const what = isList === true && isHidden ? UNUSABLE.what : (absent.what ?? 'unexpected-answer');
    issue(what, `${around}has no ${name}`);
    return absent.value;
  }
  const read = schema.read(given, place);
  if ('value' in read) return read.value;
  issue(wrong.what ?? 'unexpected-answer', `${around}${name} ${read.fault}`);
  return wrong.value;
}

/** Texts are trimmed; empty ones and numbers that JSON does not carry exactly are absent. PHP writes an empty list as `{}` and an empty object as `[]`. */
export function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').trim().toWellFormed() || undefined;
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : value;
  if (isRecord(value) && Object.keys(value).length === 0) return [];
  return value ?? undefined;
}

/** For people: an object is not one, and may have a `toString` of its own. */
function idOf(value: unknown): string | undefined {
  const id = isRecord(value) ? clean(value.id) : undefined;
  return id === undefined || typeof id === 'object' ? undefined : String(id);
}

export type AnswerReader<T> = (raw: unknown, issue: IssueSink, name?: string) => T | undefined;

/** @returns a reader, which gives `undefined` for an unusable answer; its issues name the answer and its `id` */
export function createReader<T>(schema: AnswerSchema<T>): AnswerReader<T> {
  return (raw, issue, name) => {
    const id = idOf(raw);
    const around = name === undefined || id === undefined ? '' : `${name} ${id}: `;
    const read = schema.read(raw, { issue, name: 'answer', around, level: 0, isHidden: false });
    if ('value' in read) return read.value;
    issue('unexpected-answer', `${around}answer ${read.fault}`);
    return undefined;
  };
}

/** The list in an answer: itself, or one of these members. */
export function listIn(answer: unknown, ...members: readonly string[]): readonly unknown[] | undefined {
  if (Array.isArray(answer)) return answer;
  if (!isRecord(answer)) return undefined;
  return members.map((member) => answer[member]).find((value) => Array.isArray(value));
}

/** The object in an answer: a member, or the answer itself. @param identity the member that identifies a bare object */
export function recordIn(answer: unknown, member: string, identity: string): JsonObject | undefined {
  if (!isRecord(answer)) return undefined;
  const inner = answer[member];
  if (isRecord(inner)) return inner;
  return inner === undefined && answer[identity] !== undefined ? answer : undefined;
}
