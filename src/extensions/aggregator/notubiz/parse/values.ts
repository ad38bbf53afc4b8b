/** The scalar values of NotuBiz, which writes the same thing now as a number and now as text. */
import { isRecord } from '../../../../lib/json/json-value.ts';
import type { IssueSink } from '../issue-log.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** An identification: a positive whole number, as text. */
export function identifier(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? String(value) : undefined;
  return typeof value === 'string' && /^[1-9]\d{0,17}$/.test(value) ? value : undefined;
}

/** A whole number of zero or more. */
export function count(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** Text without space around it; empty text is an absent value. NUL cannot be stored or published. */
export function text(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const trimmed = value.replaceAll('\u0000', '').trim();
  return trimmed === '' ? undefined : trimmed.toWellFormed();
}

/** `0`/`1`, `"0"`/`"1"`, `false`/`true`; `undefined` for anything else. */
export function flag(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === '1') return true;
  if (value === false || value === 0 || value === '0') return false;
  return undefined;
}

/**
 * The objects of a list. A list that is not there is reported; one that is something else, or holds something else than
 * objects, may have had more than is read, and is reported as such.
 */
export function objects(holder: JsonObject, name: string, issue: IssueSink): readonly JsonObject[] {
  const value = holder[name];
  if (value === undefined || value === null) {
    issue('unusable-value', `has no list ${name}`);
    return [];
  }
  if (!Array.isArray(value)) {
    // PHP writes an empty list of named things as {} and an empty object as [].
    if (isRecord(value) && Object.keys(value).length === 0) return [];
    issue('unexpected-answer', `${name} is not a list`);
    return [];
  }
  const found = value.filter(isRecord);
  if (found.length < value.length) issue('unexpected-answer', `${name} holds something else than objects`);
  return found;
}

/** As `objects`, where the list is what the call is for: without it nothing was answered. */
export function requiredObjects(holder: JsonObject, name: string, issue: IssueSink): readonly JsonObject[] | undefined {
  if (Array.isArray(holder[name])) return objects(holder, name, issue);
  issue('unexpected-answer', `has no list ${name}`);
  return undefined;
}

/** Values by attribute id, as the supplier gave them. */
export type Attributes = ReadonlyMap<string, unknown>;

/** Reads `attributes[]` of `{id, value}`; of an id that comes more than once, the first value that says something. */
export function readAttributes(holder: JsonObject, issue: IssueSink): Attributes {
  const found = new Map<string, unknown>();
  for (const { id, value } of objects(holder, 'attributes', issue)) {
    const key = identifier(id);
    if (key === undefined) issue('unusable-value', 'an attribute has no id');
    else if (!found.has(key) || text(found.get(key)) === undefined) found.set(key, value);
  }
  return found;
}

/** The text of an attribute; something else than text or a number is reported. */
export function attributeText(attributes: Attributes, id: string, issue: IssueSink): string | undefined {
  const value = attributes.get(id);
  if (value !== undefined && value !== null && typeof value === 'object') {
    issue('unusable-value', `attribute ${id} is not text`);
  }
  return text(value);
}

/**
 * Whether something may not be published: confidential, a template, or not public. A value that we do not know counts as hidden, and is
 * reported.
 * @param group whether this kind of thing has a `permission_group` of its own
 */
export function isHidden(holder: JsonObject, group: boolean, issue: IssueSink): boolean {
  const confidential = isMarked(holder, 'confidential', issue);
  const template = holder.template !== undefined && holder.template !== null && isMarked(holder, 'template', issue);
  return confidential || template || !isPublic(holder, group, issue);
}

function isMarked(holder: JsonObject, name: string, issue: IssueSink): boolean {
  const value = holder[name];
  if (value === undefined || value === null) {
    issue('unusable-value', `does not say whether it is ${name}`);
    return false;
  }
  const known = flag(value);
  if (known === undefined) issue('unexpected-answer', `${name} is neither 0 nor 1`);
  return known ?? true;
}

function isPublic(holder: JsonObject, group: boolean, issue: IssueSink): boolean {
  const value = holder.permission_group;
  if (value === undefined || value === null) {
    if (group) issue('unexpected-answer', 'has no permission_group');
    return !group;
  }
  return value === 'public';
}

/**
 * Fixes the faults of addresses in NotuBiz: `httphttp://`, spaces, no scheme. `undefined` when it is still no web address.
 */
export function fixUrl(value: string): string | undefined {
  const bare = value
    .trim()
    .replaceAll(/\s/g, '%20')
    .replace(/^(?:https?:?\/{0,2})*(https?):\/{1,2}(?=[^/])/i, '$1://');
  const schemed = /^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `https://${bare.replace(/^\/+/, '')}`;
  if (!URL.canParse(schemed)) return undefined;
  const url = new URL(schemed);
  const { hostname } = url;
  if (!['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  return hostname.includes('.') || hostname === 'localhost' || hostname.startsWith('[') ? url.href : undefined;
}
