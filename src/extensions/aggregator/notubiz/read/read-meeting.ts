import type { ModuleItemReference, RegisterItem } from '../parse/document.ts';
import { type AgendaItem, flattenAgenda, type Meeting, mergeAssembly, readMeeting } from '../parse/meeting.ts';
import type { JsonObject } from '../parse/values.ts';
import { fetchNamed, fetchOne, type OneOutcome, type ReadingSession, readRegisterEntry } from './session.ts';

/**
 * The result of reading a meeting.
 * - `read`: it may be published
 * - `hidden`: the supplier marks it as not public; `meeting` is there when it was shown all the same
 * - `refused`: the supplier does not show it
 * - `missing`: the supplier does not have it (any more)
 * - `failed`: not known
 */
export type MeetingOutcome =
  | {
      readonly kind: 'read';
      readonly meeting: Meeting;
      /** The register items that it and its public agenda items refer to, by path, as far as they were read. */
      readonly items: ReadonlyMap<string, RegisterItem>;
      /** All of those were read. */
      readonly complete: boolean;
    }
  | { readonly kind: 'hidden'; readonly meeting?: Meeting }
  | { readonly kind: 'refused' | 'missing' | 'failed' };

export function meetingPath(id: string): string {
  return `/events/meetings/${id}`;
}

/**
 * Reads a meeting that the supplier itself named.
 * @param assembly of an assembly: its other answer
 */
export async function readNamedMeeting(
  session: ReadingSession,
  id: string,
  assembly?: JsonObject,
): Promise<MeetingOutcome> {
  return await judge(session, id, await fetchNamed(session, meetingPath(id), 'meeting'), assembly);
}

/** Reads a meeting that the supplier named before, and perhaps does not have any more. */
export async function readMissingMeeting(session: ReadingSession, id: string): Promise<MeetingOutcome> {
  return await judge(session, id, await fetchOne(session, meetingPath(id), 'meeting'));
}

async function judge(
  session: ReadingSession,
  id: string,
  outcome: OneOutcome,
  assembly?: JsonObject,
): Promise<MeetingOutcome> {
  if (outcome.kind !== 'found') return { kind: outcome.kind };
  const issue = session.issues.at(meetingPath(id));
  // An assembly need not repeat in one response what it says in the other.
  const inherited =
    assembly === undefined ? {} : { permission_group: outcome.raw.permission_group ?? assembly.permission_group };
  const meeting = readMeeting({ ...outcome.raw, ...inherited }, issue);
  if (meeting === undefined) return { kind: 'failed' };
  if (meeting.id !== id) {
    issue('unexpected-answer', `is meeting ${meeting.id}`);
    return { kind: 'failed' };
  }
  const { organisationId } = session.request.source;
  if (meeting.organisationId !== undefined && meeting.organisationId !== organisationId) {
    issue('other-organisation', `is of organisation ${meeting.organisationId}`);
    return { kind: 'failed' };
  }
  const whole = assembly === undefined ? meeting : mergeAssembly(meeting, assembly, issue);
  return whole.hidden ? { kind: 'hidden', meeting: whole } : await withItems(session, whole);
}

async function withItems(session: ReadingSession, meeting: Meeting): Promise<MeetingOutcome> {
  const { shown } = flattenAgenda(meeting.agendaItems);
  const references = [...meeting.moduleItems, ...shown.flatMap(({ item }) => item.moduleItems)];
  const items = new Map<string, RegisterItem>();
  const read = async (reference: ModuleItemReference): Promise<boolean> => {
    const outcome = await readRegisterEntry(session, reference);
    if (outcome.kind === 'read') items.set(reference.path, outcome.item);
    return outcome.kind !== 'failed';
  };
  const done = await Promise.all(references.map(read));
  return { kind: 'read', meeting, items, complete: done.every((one) => one) };
}

/** How many items and documents a response has, hidden ones too: to be compared with what the supplier announced. */
export function countMeeting(outcome: MeetingOutcome): { readonly items: number; readonly documents: number } {
  if (!('meeting' in outcome) || outcome.meeting === undefined) return { items: 0, documents: 0 };
  const every: AgendaItem[] = [];
  const walk = (level: readonly AgendaItem[]): void => {
    for (const item of level) {
      every.push(item);
      walk(item.agendaItems);
    }
  };
  walk(outcome.meeting.agendaItems);
  const registered = outcome.kind === 'read' ? [...outcome.items.values()] : [];
  const holders = [outcome.meeting, ...every, ...registered];
  return {
    items: every.length,
    documents: holders.reduce((sum, { documents }) => sum + documents.length, 0),
  };
}
