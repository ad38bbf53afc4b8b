import type { GonePlace, KnownPlace } from '../../aggregator/source-adapter.ts';
import { inWindow } from '../../aggregator/windows.ts';
import { modulePath } from '../answers/module-item-reference.ts';
import { readRegisterItem } from '../answers/register-item.ts';
import { readMoment } from '../values/moment.ts';
import { askOne } from './ask-one.ts';
import type { WindowMeeting } from './read-events.ts';
import { readFormerMeeting } from './read-meeting.ts';
import type { RegisterEntry } from './read-registers.ts';
import type { ReadingSession } from './session.ts';

/** What became of a known place that its list does not show. */
export type FormerPlace =
  | { readonly kind: 'gone'; readonly gone: GonePlace }
  /** It is still there, on another day or on no day at all. */
  | { readonly kind: 'meeting'; readonly id: string; readonly meeting: WindowMeeting }
  | { readonly kind: 'entry'; readonly entry: RegisterEntry }
  /** Not known; an issue says why. */
  | { readonly kind: 'failed' };

/**
 * Asks for a known place that is in no list of its window any more. A list may leave out what was moved to another day; and only
 * the thing itself says whether it is gone, or not public any more.
 */
export async function findFormer(session: ReadingSession, known: KnownPlace): Promise<FormerPlace> {
  const meeting = /^meeting-(\d+)$/.exec(known.place)?.[1];
  if (meeting !== undefined) return await findFormerMeeting(session, known, meeting);
  const [, register, entry] = /^register-(\d+)-(\d+)$/.exec(known.place) ?? [];
  if (register === undefined || entry === undefined) throw new TypeError(`${known.place} is not a place`);
  return await findFormerEntry(session, known, register, entry);
}

const NO_COUNTS = { agendaItemCount: undefined, documentCount: undefined, meetingsCount: undefined };

async function findFormerMeeting(session: ReadingSession, known: KnownPlace, id: string): Promise<FormerPlace> {
  const outcome = await readFormerMeeting(session, id);
  if (outcome.kind === 'failed') return { kind: 'failed' };
  if (outcome.kind === 'missing') return gone(known, 'ingetrokken');
  if (outcome.kind !== 'read') return gone(known, 'niet_langer_openbaar');
  const day = readMoment(outcome.meeting.plannings[0]?.start).moment?.day;
  if (isExpected(session, day)) return gone(known, 'ingetrokken');
  const { plannings, lastModified } = outcome.meeting;
  const event = { id, type: 'meeting', hidden: false, lastModified, plannings, ...NO_COUNTS };
  return { kind: 'meeting', id, meeting: { id, event, outcome, children: undefined, parent: undefined } };
}

async function findFormerEntry(
  session: ReadingSession,
  known: KnownPlace,
  register: string,
  id: string,
): Promise<FormerPlace> {
  const path = modulePath(register, id);
  const outcome = await askOne(session, path, 'item');
  if (outcome.kind === 'missing') return gone(known, 'ingetrokken');
  if (outcome.kind === 'refused') return gone(known, 'niet_langer_openbaar');
  if (outcome.kind !== 'found') return { kind: 'failed' };
  const item = readRegisterItem(outcome.raw, session.issues.at(path));
  if (item === undefined) return { kind: 'failed' };
  if (item.hidden) return gone(known, 'niet_langer_openbaar');
  const day = readMoment(item.date).moment?.day;
  if (isExpected(session, day)) return gone(known, 'ingetrokken');
  return { kind: 'entry', entry: { register, id, item } };
}

/** Whether the list of this window should have shown it: then that it did not means that it was taken out. */
function isExpected({ request }: ReadingSession, day: string | undefined): boolean {
  return day !== undefined && inWindow(day, request.window);
}

function gone({ place }: KnownPlace, verwijderreden: GonePlace['verwijderreden']): FormerPlace {
  return { kind: 'gone', gone: { place, verwijderreden } };
}
