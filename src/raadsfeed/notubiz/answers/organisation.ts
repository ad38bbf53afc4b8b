import { isRecord } from '../../../kernel/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { identifier, type JsonObject, text } from '../values/scalars.ts';
import { requiredObjects } from './lists.ts';

/** Names by id: of the attributes of a meeting, of the bodies, of the registers. */
export type Names = ReadonlyMap<string, string>;

/** The organisation in the answer of `/organisations`, or `undefined`: some are missing there. */
export function findOrganisation(answer: unknown, id: string, issue: IssueSink): JsonObject | undefined {
  const holder = isRecord(answer) ? answer.organisations : undefined;
  const list = isRecord(holder) ? requiredObjects(holder, 'organisation', issue) : undefined;
  if (!isRecord(holder)) issue('unexpected-answer', 'has no organisations');
  return list?.find((organisation) => identifier(attributesOf(organisation).id) === id);
}

/** Labels of the meeting's attributes; `undefined` when the organisation does not give them. */
export function readLabels(organisation: JsonObject): Names | undefined {
  const fields = ['settings', 'folder', 'fields', 'field'].reduce<unknown>(
    (holder, name) => (isRecord(holder) ? holder[name] : undefined),
    organisation,
  );
  const labels = new Map<string, string>();
  for (const field of (Array.isArray(fields) ? fields : [fields]).filter(isRecord)) {
    const id = identifier(attributesOf(field).id);
    const label = text(field.label);
    if (id !== undefined && label !== undefined) labels.set(id, label);
  }
  return labels.size === 0 ? undefined : labels;
}

/** Names of the bodies, of `/organisations/{id}/gremia`. */
export function readGremia(answer: unknown, issue: IssueSink): Names {
  return readNames(answer, 'gremia', ['title', 'name'], issue);
}

/** Names of the registers, of `/organisations/{id}/modules`: the organisation's own name goes first. */
export function readModules(answer: unknown, issue: IssueSink): Names {
  return readNames(answer, 'modules', ['custom_name', 'name'], issue);
}

function readNames(answer: unknown, list: string, members: readonly string[], issue: IssueSink): Names {
  const names = new Map<string, string>();
  if (!isRecord(answer)) issue('unexpected-answer', 'not an object');
  for (const raw of isRecord(answer) ? (requiredObjects(answer, list, issue) ?? []) : []) {
    const id = identifier(raw.id);
    if (id === undefined) issue('unexpected-answer', `one of ${list} has no id`);
    else names.set(id, members.map((member) => text(raw[member])).find((name) => name !== undefined) ?? '');
  }
  return names;
}

function attributesOf(holder: JsonObject): JsonObject {
  return isRecord(holder['@attributes']) ? holder['@attributes'] : {};
}
