/** The marks that an answer needs to be published: an unknown mark hides, and a value that is not an object counts as nothing. */
import { expect, it } from 'vitest';
import {
  isHidden,
  readEvent,
  readMeeting,
  readRegisterItem,
} from '../../../../src/raadsfeed/aggregator/notubiz/schema.ts';

const PUBLIC = { confidential: 0, permission_group: 'public' };
const meetingWith = (members: object): object => ({
  ...{
    id: 1,
    ...PUBLIC,
    canceled: 0,
    plannings: [],
    attributes: [],
    documents: [],
    module_items: [],
    agenda_items: [],
  },
  ...members,
});

it.each<[string, object]>([
  ['an empty confidentiality mark', { confidential: '' }],
  ['a blank one', { confidential: ' ' }],
  ['a number that matches none of the marks', { confidential: 1e20 }],
  ['an empty template mark', { template: '' }],
  ['an empty group', { permission_group: '' }],
  ["a group with nearly the public one's name", { permission_group: ' public ' }],
])('%s hides', (_title, mark) => {
  const meeting = readMeeting(
    meetingWith({ ...mark, documents: [{ id: 5, ...PUBLIC, types: [], versions: [], ...mark }] }),
    () => undefined,
  );
  const event = readEvent(
    { id: 1, type: 'meeting', plannings: [], event_type_data: {}, ...PUBLIC, ...mark },
    () => undefined,
  );
  const item = readRegisterItem({ id: 1, attributes: [], ...PUBLIC, ...mark }, () => undefined);
  const found = [meeting, meeting?.documents[0], event, item];
  expect(found.map((one) => one !== undefined && isHidden(one))).toEqual([true, true, true, true]);
});

it.each([[{}], [[]]])('reports %j in a list of objects with an id, and omits it', (nothing) => {
  const issues: string[] = [];
  const raw = meetingWith({ documents: [nothing], module_items: [nothing], agenda_items: [nothing], gremium: nothing });
  const meeting = readMeeting(raw, (what, detail) => issues.push(`${what}: ${detail}`));
  expect(meeting).toMatchObject({ id: '1', documents: [], module_items: [], agenda_items: [] });
  expect(issues.toSorted()).toEqual([
    'unexpected-answer: one of agenda_items must be object',
    'unexpected-answer: one of documents must be object',
    'unexpected-answer: one of module_items must be object',
    'unusable-value: gremium must be object',
  ]);
});

it('reads no meeting from an empty list', () => {
  const issues: string[] = [];
  expect(readMeeting([], (what) => issues.push(what))).toBeUndefined();
  expect(issues).toEqual(['unexpected-answer']);
});
