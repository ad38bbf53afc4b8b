import type { ModuleItemReference } from '../answers/module-item-reference.ts';
import { readRegisterItem } from '../answers/register-item.ts';
import { askNamed } from './ask-one.ts';
import type { ItemOutcome, ReadingSession } from './session.ts';

/** Reads a register item that something refers to; once in a reading, whoever refers to it. */
export function readItem(session: ReadingSession, reference: ModuleItemReference): Promise<ItemOutcome> {
  const asked = session.items.get(reference.path);
  if (asked !== undefined) return asked;
  const outcome = askItem(session, reference);
  session.items.set(reference.path, outcome);
  return outcome;
}

async function askItem(session: ReadingSession, { id, path }: ModuleItemReference): Promise<ItemOutcome> {
  const outcome = await askNamed(session, path, 'item');
  if (outcome.kind !== 'found') return { kind: outcome.kind === 'refused' ? 'refused' : 'failed' };
  const issue = session.issues.at(path);
  const item = readRegisterItem(outcome.raw, issue);
  if (item === undefined) return { kind: 'failed' };
  if (item.id !== id) {
    issue('unexpected-answer', `is register item ${item.id}`);
    return { kind: 'failed' };
  }
  return { kind: 'read', item };
}
