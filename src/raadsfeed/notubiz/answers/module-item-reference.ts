import type { IssueSink } from '../issue-log.ts';
import { identifier, type JsonObject, text } from '../values/scalars.ts';
import { objects } from './lists.ts';

export interface ModuleItemReference {
  readonly id: string;
  /** Path of the item from the base of the API. */
  readonly path: string;
}

/** Reads `module_items[]`: the register entries that something refers to. */
export function readModuleItemReferences(holder: JsonObject, issue: IssueSink): readonly ModuleItemReference[] {
  return objects(holder, 'module_items', issue)
    .map((raw) => readModuleItemReference(raw, issue))
    .filter((reference) => reference !== undefined);
}

/**
 * One reference. Of its address only the path counts, and only one of the known form: the call goes to the configured base.
 */
export function readModuleItemReference(raw: JsonObject, issue: IssueSink): ModuleItemReference | undefined {
  const id = identifier(raw.id);
  if (id === undefined) {
    issue('unexpected-answer', 'a register item has no id');
    return undefined;
  }
  const path = /^(?:https?:\/\/)?[^/\s]*(\/modules\/\d{1,9}\/items\/[1-9]\d{0,17})\/?$/.exec(text(raw.self) ?? '')?.[1];
  if (path === undefined) issue('unusable-value', `register item ${id} has no address of the known form`);
  return { id, path: path ?? modulePath('0', id) };
}

/** The address of a register item; register 0 stands for whichever it is in. */
export function modulePath(module: string, id: string): string {
  return `/modules/${module}/items/${id}`;
}
