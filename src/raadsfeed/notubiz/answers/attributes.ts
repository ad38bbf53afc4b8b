import type { IssueSink } from '../issue-log.ts';
import { identifier, type JsonObject, text } from '../values/scalars.ts';
import { objects } from './lists.ts';

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
