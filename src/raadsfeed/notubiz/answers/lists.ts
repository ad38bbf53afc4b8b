import { isRecord } from '../../../kernel/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import type { JsonObject } from '../values/scalars.ts';

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
