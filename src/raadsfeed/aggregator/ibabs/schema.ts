/** The parts of iBabs answers that are used, as recorded. */

import type { IssueSink } from '../supplier/issue-log.ts';
import {
  type AnswerSchema,
  COUNT,
  createReader,
  listOf,
  objectOf,
  TEXT,
  textLike,
  type ValueOf,
} from '../supplier/read-answer.ts';
import type { XmlElement } from './read-xml.ts';

const ID = textLike(/^[A-Za-z0-9{}_.-]{1,80}$/);
/** Any mark but `false` hides, even an empty one. The public service omits it from public items. */
const hides = (mark: unknown): boolean => !/^\s*(false|0)\s*$/i.test(String(mark));
const CONFIDENTIAL: AnswerSchema<string> = {
  ...{ ...TEXT, wrong: { what: 'unusable-value', value: 'unknown' } },
  hides,
};

const DOCUMENT = objectOf(
  { Id: ID },
  { FileName: TEXT, DisplayName: TEXT, Confidential: CONFIDENTIAL, FileSize: COUNT, PublicDownloadURL: TEXT },
);
const DOCUMENTS = listOf(DOCUMENT);
/** A third place for documents. */
const LIST_ITEM = objectOf({ Documents: DOCUMENTS }, { Confidential: CONFIDENTIAL });
const LIST_ITEMS = listOf(LIST_ITEM);
const ITEM = objectOf(
  { Id: ID, Documents: DOCUMENTS },
  { Features: TEXT, Title: TEXT, Explanation: TEXT, Confidential: CONFIDENTIAL, ListItems: LIST_ITEMS },
);
const MEETING = objectOf(
  { Id: ID, MeetingItems: listOf(ITEM), Documents: DOCUMENTS, ListItems: LIST_ITEMS },
  {
    MeetingtypeId: ID,
    MeetingDate: TEXT,
    StartTime: TEXT,
    EndTime: TEXT,
    Location: TEXT,
    Explanation: TEXT,
  },
);
const MEETING_TYPE = objectOf({ Id: ID }, { Meetingtype: TEXT, Description: TEXT, Abbreviation: TEXT });
const PAIR = objectOf({ Key: TEXT }, { Value: TEXT });
const ENTRY = objectOf(
  { EntryId: ID },
  { EntryMasterId: ID, EntryTitle: TEXT, ListId: ID, ListName: TEXT, MutationDate: TEXT },
);
const DETAIL = objectOf({ Documents: DOCUMENTS, Values: listOf(PAIR) }, { DocumentsLabel: TEXT });

export type IbabsDocument = ValueOf<typeof DOCUMENT>;
export type IbabsItem = ValueOf<typeof ITEM>;
export type IbabsMeeting = ValueOf<typeof MEETING>;
export type MeetingType = ValueOf<typeof MEETING_TYPE>;
export type Register = ValueOf<typeof PAIR>;
export type RegisterEntry = ValueOf<typeof ENTRY>;
export type EntryDetail = ValueOf<typeof DETAIL>;

/** Lists, whatever their entries are called. */
const LISTS = new Set(['MeetingItems', 'Documents', 'ListItems', 'Values']);

/** An empty list has no value. */
function toJson({ children, text, name }: XmlElement): unknown {
  if (LISTS.has(name)) return children.map(toJson);
  if (children.length === 0) return text;
  const given = children.filter((child) => !child.isNil || LISTS.has(child.name));
  return Object.fromEntries(given.map((child) => [child.name, toJson(child)]));
}

function readerOf<T>(schema: AnswerSchema<T>): (element: XmlElement, issue: IssueSink, name?: string) => T | undefined {
  const read = createReader(schema);
  return (element, issue, name) => read(toJson(element), issue, name);
}

export const readMeeting = readerOf(MEETING);
export const readMeetingType = readerOf(MEETING_TYPE);
export const readRegister = readerOf(PAIR);
export const readEntry = readerOf(ENTRY);
export const readDetail = readerOf(DETAIL);

/** An unknown mark hides and is reported. */
export function isConfidential({ Confidential: mark }: { readonly Confidential?: string }, issue?: IssueSink): boolean {
  if (mark === undefined || !hides(mark)) return false;
  if (!/^(true|1)$/i.test(mark)) issue?.('unusable-value', 'Confidential has an unknown value; it hides');
  return true;
}
