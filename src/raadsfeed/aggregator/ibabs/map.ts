/** The iBabs answers that are used, as recorded, and the resources made from them. */
import { dayAfter } from '../../../lib/time.ts';
import { lineOfHtml, textOfHtml } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { bareNumber, nestByNumber } from '../supplier/mapping.ts';
import { mediaTypeIn } from '../supplier/media-type.ts';
import { type FoundDocument, type FoundItem, mapEntry, mapMeeting } from '../supplier/meeting.ts';
import {
  type AnswerSchema,
  COUNT,
  createReader,
  HTML,
  listOf,
  NAME,
  objectOf,
  TEXT,
  textLike,
  UNUSABLE,
  type ValueOf,
} from '../supplier/read-answer.ts';
import { describeEntry } from '../supplier/register-values.ts';
import type { AdapterSource } from '../supplier/source-adapter.ts';
import type { MappedItem, Reading } from '../supplier/supplier.ts';
import { addressOf, dutchMoment, readMoment } from '../supplier/values.ts';
import type { XmlElement } from './read-xml.ts';

const ID = textLike(/^[A-Za-z0-9{}_.-]{1,80}$/);
/** Any mark but `false` hides, even an empty one. The public service omits it from public items. */
const hides = (mark: unknown): boolean => !/^\s*(false|0)\s*$/i.test(String(mark));
const CONFIDENTIAL: AnswerSchema<string> = { ...TEXT, wrong: { ...UNUSABLE, value: 'unknown' }, hides };

const DOCUMENT = objectOf(
  { Id: ID },
  { FileName: NAME, DisplayName: NAME, Confidential: CONFIDENTIAL, FileSize: COUNT, PublicDownloadURL: TEXT },
);
const DOCUMENTS = listOf(DOCUMENT);
const LIST_ITEMS = listOf(objectOf({ Documents: DOCUMENTS }, { Confidential: CONFIDENTIAL }));
const ITEM = objectOf(
  { Id: ID, Documents: DOCUMENTS },
  { Features: NAME, Title: NAME, Explanation: HTML, Confidential: CONFIDENTIAL, ListItems: LIST_ITEMS },
);
const MEETING = objectOf(
  { Id: ID, MeetingItems: listOf(ITEM), Documents: DOCUMENTS, ListItems: LIST_ITEMS },
  {
    MeetingtypeId: ID,
    MeetingDate: TEXT,
    StartTime: TEXT,
    EndTime: TEXT,
    Location: NAME,
    Explanation: HTML,
  },
);
const MEETING_TYPE = objectOf({ Id: ID }, { Meetingtype: NAME, Description: NAME, Abbreviation: NAME });
const PAIR = objectOf({ Key: TEXT }, { Value: TEXT });
const ENTRY = objectOf(
  { EntryId: ID },
  { EntryMasterId: ID, EntryTitle: NAME, ListId: ID, ListName: NAME, MutationDate: TEXT },
);
const DETAIL = objectOf({ Documents: DOCUMENTS, Values: listOf(PAIR) }, { DocumentsLabel: NAME });

type IbabsDocument = ValueOf<typeof DOCUMENT>;
type IbabsItem = ValueOf<typeof ITEM>;
export type IbabsMeeting = ValueOf<typeof MEETING>;
export type MeetingType = ValueOf<typeof MEETING_TYPE>;
export type RegisterEntry = ValueOf<typeof ENTRY>;
type EntryDetail = ValueOf<typeof DETAIL>;

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
function isConfidential({ Confidential: mark }: { readonly Confidential?: string }, issue?: IssueSink): boolean {
  if (mark === undefined || !hides(mark)) return false;
  if (!/^(true|1)$/i.test(mark)) issue?.('unusable-value', 'Confidential has an unknown value; it hides');
  return true;
}

export const meetingId = (id: string): string => `ibabs-meeting-${id}`;
const agendapuntId = (id: string): string => `ibabs-agendapunt-${id}`;
const documentId = (id: string): string => `ibabs-document-${id}`;
export const registerItemId = (id: string): string => `ibabs-registerstuk-${id}`;

/** The portal of an organisation; by default its host is guessed from the name of the site. */
export function portalOf({ portaal, organisationId }: AdapterSource): string {
  return (portaal ?? `https://${organisationId}.bestuurlijkeinformatie.nl`).replace(/(?<!\/)\/+$/, '');
}

export function typeName(type: MeetingType | undefined): string | undefined {
  return type?.Description ?? type?.Meetingtype;
}

export function meetingDay({ MeetingDate: date }: IbabsMeeting): string | undefined {
  return readMoment(date).moment?.day;
}

export function mapIbabsMeeting(meeting: IbabsMeeting, type: MeetingType | undefined, reading: Reading): MappedItem {
  const { source } = reading.request;
  const { Id, MeetingItems, MeetingtypeId } = meeting;
  const id = meetingId(Id);
  const issue = reading.issues.at(id);
  const { start, end } = timesOf(meeting, issue);
  const gremiumnaam = typeName(type);
  const found = {
    bronidentificatie: id,
    isCancelled: undefined,
    names: [type?.Meetingtype, type?.Description],
    start,
    end,
    naam: gremiumnaam,
    members: {
      webpaginalink: `${portalOf(source)}/Agenda/Index/${Id}`,
      locatie: meeting.Location,
      vergadertoelichting: meeting.Explanation,
      vergaderingstype: type?.Meetingtype,
    },
    // A type that is unknown was reported when the meeting was listed.
    gremium: gremiumnaam === undefined ? undefined : { id: MeetingtypeId, naam: gremiumnaam },
    documents: documentsOf(meeting, source, issue),
    items: mapItems(MeetingItems, source, issue),
  };
  const numbers = MeetingItems.map((item) => [agendapuntId(item.Id), bareNumber(item.Features)] as const);
  const names = [type?.Meetingtype, type?.Description].filter((name) => name !== undefined).join('\n');
  return {
    ...mapMeeting(found, reading, { issue, base: portalOf(source) }),
    labels: new Map([[id, names], ...numbers]),
  };
}

function timesOf({ MeetingDate, StartTime, EndTime }: IbabsMeeting, issue: IssueSink) {
  const [from, to] = [clockTime(StartTime, 'StartTime', issue), clockTime(EndTime, 'EndTime', issue)];
  const start = dutchMoment(MeetingDate, from, 'MeetingDate', issue);
  if (start === undefined || to === undefined) return { start, end: undefined };
  const isPastMidnight = from !== undefined && to < from;
  const end = dutchMoment(isPastMidnight ? dayAfter(start.day) : start.day, to, 'EndTime', issue);
  return { start, end: end?.utc };
}

/** `20:00`; midnight means that the time is not known. */
function clockTime(text: string | undefined, name: string, issue: IssueSink): string | undefined {
  if (text === undefined) return undefined;
  const [, hour = '', minute = ''] = /(?:^|T)(\d{1,2})[:.](\d{2})(?::\d{2}(?:\.\d+)?)?(?: uur)?$/.exec(text) ?? [];
  if (hour === '' || Number(hour) > 23 || Number(minute) > 59) {
    issue('unusable-value', `${name}: not a time of day`);
    return undefined;
  }
  const time = `${hour.padStart(2, '0')}:${minute}`;
  return time === '00:00' ? undefined : time;
}

/** An item is hidden when one of its copies is. */
function mapItems(all: readonly IbabsItem[], source: AdapterSource, issue: IssueSink): FoundItem[] {
  const items = [...new Map(all.map((item) => [item.Id, item])).values()];
  const parents = nestByNumber(items.map(({ Id, Features }) => ({ id: Id, number: Features })));
  return all.map((item) => {
    const { Id, Features: number } = item;
    const parent = parents.get(Id);
    return {
      bronidentificatie: agendapuntId(Id),
      isHidden: isConfidential(item, issue),
      parent: parent === undefined ? undefined : agendapuntId(parent),
      agendapuntnaam: item.Title ?? `Agendapunt${number === undefined ? '' : ` ${number}`}`,
      members: { omschrijving: item.Explanation, volgnummer: number },
      documents: documentsOf(item, source, issue),
    };
  });
}

function documentsOf(
  { Documents, ListItems = [] }: Pick<IbabsItem, 'Documents' | 'ListItems'>,
  source: AdapterSource,
  issue: IssueSink,
  type?: string,
): FoundDocument[] {
  const map = (document: IbabsDocument): FoundDocument => mapDocument(document, portalOf(source), issue, type);
  const listed = ListItems.flatMap((item) => {
    const isUnderHidden = isConfidential(item);
    return item.Documents.map((document) => ({ ...map(document), isUnderHidden }));
  });
  return [...Documents.map(map), ...listed];
}

/** @param page of a document without a file */
function mapDocument(document: IbabsDocument, page: string, issue: IssueSink, type?: string): FoundDocument {
  const { Id, FileName, DisplayName, FileSize, PublicDownloadURL } = document;
  const about: IssueSink = (what, detail) => issue(what, `document ${Id}: ${detail}`);
  const isHidden = isConfidential(document, issue);
  const titel = DisplayName ?? FileName;
  if (titel === undefined) about('unusable-value', 'has neither a name nor a file name');
  const bestandsurl = addressOf(PublicDownloadURL, 'PublicDownloadURL', about);
  if (bestandsurl === undefined) about('unusable-value', 'has no address to download it from');
  return {
    bronidentificatie: documentId(Id),
    isHidden,
    titel: titel ?? `Document ${Id}`,
    webpaginalink: bestandsurl ?? page,
    members: {
      bestandsurl,
      formaat: mediaTypeIn([FileName], bestandsurl),
      omvang: FileSize === 0 ? undefined : FileSize,
      informatieobjecttype: type,
    },
  };
}

/** An agenda item named by an entry: `Gemeenteraad 29-1-2026\n23 Title`, with a literal backslash and n. */
export interface ItemReference {
  readonly type: string;
  readonly day: string;
  readonly number: string;
}

const MAX_REFERENCE = 300;
const AGENDAPUNT = /^(.+?)\s+(\d{1,2}-\d{1,2}-\d{4})\s*(?:\\n|\n)\s*(\d[\w.]*)/;

type EntryValues = ReturnType<typeof entryValues>;

export function entryValues({ ListName }: RegisterEntry, { Values }: EntryDetail, issue: IssueSink) {
  const value = (key: string): string | undefined => Values.find(({ Key }) => Key.toLowerCase() === key)?.Value;
  const datum = textOfHtml(value('datum'));
  const day = datum === undefined ? undefined : entryDay(datum);
  if (datum !== undefined && day === undefined) issue('unusable-value', `Datum is not a date: ${datum.slice(0, 40)}`);
  const agendapunt = textOfHtml(value('agendapunt'));
  const [, type = '', written = '', number = ''] = AGENDAPUNT.exec(agendapunt?.slice(0, MAX_REFERENCE) ?? '') ?? [];
  const on = entryDay(written);
  return {
    title: lineOfHtml(value('onderwerp')),
    day,
    agendapunt,
    omschrijving: describeEntry(
      ListName,
      Values.map(({ Key: label, Value }) => ({ label, value: Value })),
    ),
    reference: on === undefined ? undefined : { type, day: on, number: bareNumber(number) },
  };
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Reads `Jan 29 2026 12:00AM`, `29-1-2026` or an ISO date. */
export function entryDay(text: string): string | undefined {
  const english = /^(?<name>[A-Za-z]{3})\s+(?<day>\d{1,2})\s+(?<year>\d{4})\b/.exec(text)?.groups;
  const dutch = /^(?<day>\d{1,2})-(?<number>\d{1,2})-(?<year>\d{4})\b/.exec(text)?.groups;
  const { name = '', number = `${MONTHS.indexOf(name.toLowerCase()) + 1}`, day = '', year } = english ?? dutch ?? {};
  const iso = year === undefined ? text : `${year}-${number.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return readMoment(iso).moment?.day;
}

/** Maps a register entry to its documents, or to a document of its own. */
export function mapIbabsEntry(
  entry: RegisterEntry,
  detail: EntryDetail,
  values: EntryValues,
  agendapunten: readonly string[],
  { source, issue }: { readonly source: AdapterSource; readonly issue: IssueSink },
): MappedItem {
  const { ListName: kind } = entry;
  // The label says how the files relate to the entry: "Bijlage(s)".
  const { DocumentsLabel: label } = detail;
  const described = [label === kind ? undefined : label, values.omschrijving].filter((text) => text !== undefined);
  const documents = documentsOf(detail, source, issue, kind);
  const changed = dutchMoment(entry.MutationDate, undefined, 'MutationDate', issue);
  const itself: FoundDocument = {
    bronidentificatie: registerItemId(entry.EntryMasterId ?? entry.EntryId),
    isHidden: false,
    titel: values.title ?? entry.EntryTitle ?? 'Registerstuk',
    webpaginalink: `${portalOf(source)}/Reports/Item/${entry.EntryId}`,
    modifiedDay: changed?.day,
    members: { gewijzigdop: changed?.utc, informatieobjecttype: kind },
  };
  const day = values.day ?? values.reference?.day;
  const omschrijving = documents.length === 0 ? values.omschrijving : described.join('\n') || undefined;
  const attachment = { agendapunten, registerdag: day, omschrijving };
  const found = documents.length === 0 ? [itself] : documents;
  return { ...mapEntry(found, attachment, { source, page: portalOf(source) }), day };
}
