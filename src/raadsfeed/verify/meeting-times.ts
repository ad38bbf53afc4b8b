/**
 * The one rule that goes over two resources: an agenda item that has begun also has its end, once its meeting has ended. The two come
 * in any order and in different batches, so it can only be judged on the state.
 */
import { resourceKey } from '../domain/resource.ts';
import { member } from './member.ts';

export interface MeetingTimes {
  /** What is there now of a resource (`resourceKey`), instead of what was; `data` undefined: nothing. */
  note(key: string, of: { sequenceNumber: number; organisatiecode: string; data: unknown }): void;
  forget(key: string): void;
  /** Numbers of the agenda items that break the rule. */
  broken(): number[];
}

/** @param now a meeting whose `einde` is later has not ended */
export function createMeetingTimes(now: Date): MeetingTimes {
  const ended = new Set<string>();
  const open = new Map<string, { sequenceNumber: number; meeting: string }>();
  const forget = (key: string): void => {
    ended.delete(key);
    open.delete(key);
  };
  return {
    note(key, { sequenceNumber, organisatiecode, data }) {
      forget(key);
      const kind = member(data, 'dossiertype');
      const end = member(data, 'einde');
      if (kind === 'vergadering' && typeof end === 'string' && Date.parse(end) <= now.getTime()) ended.add(key);
      if (kind !== 'agendapunt' || member(data, 'starttijd') === undefined) return;
      if (member(data, 'eindtijd') !== undefined) return;
      const meeting = member(data, 'vergadering');
      const resource = {
        organisatiecode: String(member(meeting, 'organisatiecode') ?? organisatiecode),
        bronidentificatie: String(member(meeting, 'bronidentificatie')),
      };
      open.set(key, { sequenceNumber, meeting: resourceKey('Vergadering', resource) });
    },
    forget,
    broken: () =>
      [...open.values()].flatMap(({ sequenceNumber, meeting }) => (ended.has(meeting) ? [sequenceNumber] : [])),
  };
}
