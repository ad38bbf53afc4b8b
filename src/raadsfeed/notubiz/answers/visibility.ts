import type { IssueSink } from '../issue-log.ts';
import { flag, type JsonObject } from '../values/scalars.ts';

/**
 * Whether something may not be published: confidential, a template, or not public. What says it in another way than we know is
 * held back too, and reported.
 * @param group whether this kind of thing has a `permission_group` of its own
 */
export function isHidden(holder: JsonObject, group: boolean, issue: IssueSink): boolean {
  const confidential = mark(holder, 'confidential', issue);
  const template = holder.template !== undefined && holder.template !== null && mark(holder, 'template', issue);
  return confidential || template || !isPublic(holder, group, issue);
}

function mark(holder: JsonObject, name: string, issue: IssueSink): boolean {
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
