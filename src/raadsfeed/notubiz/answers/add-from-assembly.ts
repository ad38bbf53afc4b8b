import type { IssueSink } from '../issue-log.ts';
import type { JsonObject } from '../values/scalars.ts';
import { readDocuments } from './document.ts';
import type { Meeting } from './meeting.ts';
import { readModuleItemReferences } from './module-item-reference.ts';

/**
 * An assembly has two answers. Its documents and register items are in the one of a meeting; what only the other one shows is
 * taken too, so that nothing hangs where nobody looks.
 */
export function addFromAssembly(meeting: Meeting, assembly: JsonObject, issue: IssueSink): Meeting {
  const { documents, module_items } = assembly;
  const known = new Set(meeting.documents.map(({ id }) => id));
  const referred = new Set(meeting.moduleItems.map(({ id }) => id));
  const more = documents === undefined ? [] : readDocuments({ documents }, 'documents', issue);
  const items = module_items === undefined ? [] : readModuleItemReferences({ module_items }, issue);
  return {
    ...meeting,
    documents: [...meeting.documents, ...more.filter(({ id }) => !known.has(id))],
    moduleItems: [...meeting.moduleItems, ...items.filter(({ id }) => !referred.has(id))],
  };
}
