/** Maps iBabs data to the resources of the feed. */
import { dayAfter } from '../../../lib/time.ts';
import { lineOfHtml, textOfHtml } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { bareNumber, nestByNumber } from '../supplier/mapping.ts';
import { mediaTypeIn } from '../supplier/media-type.ts';
import { type FoundDocument, type FoundItem, type MeetingContext, mapEntry, mapMeeting } from '../supplier/meeting.ts';
import { describeEntry } from '../supplier/register-values.ts';
import type { AdapterSource } from '../supplier/source-adapter.ts';
import type { MappedItem } from '../supplier/supplier.ts';
import { addressOf, dutchMoment, type Moment, readMoment } from '../supplier/values.ts';
import {
  type EntryDetail,
  type IbabsDocument,
  type IbabsItem,
  type IbabsMeeting,
  isConfidential,
  type MeetingType,
  type RegisterEntry,
} from './schema.ts';

export const meetingId = (id: string): string => `ibabs-meeting-${id}`;
const agendapuntId = (id: string): string => `ibabs-agendapunt-${id}`;
const documentId = (id: string): string => `ibabs-document-${id}`;
/** A register entry, also as a key. */
export const registerItemId = (id: string): string => `ibabs-registerstuk-${id}`;

/** The portal of an organisation; by default its host is guessed from the name of the site. */
export function portalOf({ portaal, organisationId }: AdapterSource): string {
  return (portaal ?? `https://${organisationId}.bestuurlijkeinformatie.nl`).replace(/(?<!\/)\/+$/, '');
}

type MeetingMapping = Omit<MeetingContext, 'base'>;

export function typeName(type: MeetingType | undefined): string | undefined {
  return type?.Description ?? type?.Meetingtype;
}

export function meetingDay({ MeetingDate: date }: IbabsMeeting): string | undefined {
  return readMoment(date).moment?.day;
}

export function mapIbabsMeeting(
  meeting: IbabsMeeting,
  type: MeetingType | undefined,
  { source, now, issue, usualDay }: MeetingMapping,
): MappedItem {
  const { Id, MeetingItems, MeetingtypeId } = meeting;
  const id = meetingId(Id);
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
      locatie: lineOfHtml(meeting.Location),
      vergadertoelichting: textOfHtml(meeting.Explanation),
      vergaderingstype: type?.Meetingtype,
    },
    // A type that is unknown was reported when the meeting was listed.
    gremium: gremiumnaam === undefined ? undefined : { id: MeetingtypeId, naam: gremiumnaam },
    documents: documentsOf(meeting, source, issue),
    items: mapItems(MeetingItems, source, issue),
  };
  const mapped = mapMeeting(found, { source, now, issue, base: portalOf(source), usualDay });
  const shown = new Set(mapped.records.map(({ data }) => data.bronidentificatie));
  const numbers = MeetingItems.map((item) => [agendapuntId(item.Id), bareNumber(item.Features)] as const);
  return {
    ...mapped,
    labels: new Map([
      [id, [type?.Meetingtype, type?.Description].filter((one) => one !== undefined).join('\n')],
      ...numbers.filter(([item]) => shown.has(item)),
    ]),
  };
}

function timesOf(
  { MeetingDate, StartTime, EndTime }: IbabsMeeting,
  issue: IssueSink,
): { readonly start: Moment | undefined; readonly end: string | undefined } {
  const date = dutchMoment(MeetingDate, undefined, 'MeetingDate', issue);
  if (date === undefined) return { start: undefined, end: undefined };
  const { day } = date;
  const [from, to] = [clockTime(StartTime, 'StartTime', issue), clockTime(EndTime, 'EndTime', issue)];
  const utc = from === undefined ? date.utc : at(day, from);
  // Past midnight.
  const isNextDay = from !== undefined && to !== undefined && to < from;
  const end = to === undefined ? undefined : at(isNextDay ? dayAfter(day) : day, to);
  return { start: { day, ...(utc === undefined ? {} : { utc }) }, end };
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

function at(day: string, time: string): string | undefined {
  return readMoment(`${day}T${time}:00`).moment?.utc;
}

/** An item is hidden when one of its copies is. */
function mapItems(all: readonly IbabsItem[], source: AdapterSource, issue: IssueSink): FoundItem[] {
  const items = [...new Map(all.map((item) => [item.Id, item])).values()];
  const parents = nestByNumber(items.map(({ Id, Features }) => ({ id: Id, number: Features })));
  return all.map((item) => {
    const { Id } = item;
    const number = lineOfHtml(item.Features);
    const parent = parents.get(Id);
    return {
      bronidentificatie: agendapuntId(Id),
      isHidden: isConfidential(item, issue),
      parent: parent === undefined ? undefined : agendapuntId(parent),
      agendapuntnaam: lineOfHtml(item.Title) ?? `Agendapunt${number === undefined ? '' : ` ${number}`}`,
      members: { omschrijving: textOfHtml(item.Explanation), volgnummer: number },
      documents: documentsOf(item, source, issue),
    };
  });
}

/** Its own documents, and those of its list items. */
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
  const titel = lineOfHtml(DisplayName) ?? lineOfHtml(FileName);
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

/** The title at the end of a reference does not matter. */
const MAX_REFERENCE = 300;
const AGENDAPUNT = /^(.+?)\s+(\d{1,2}-\d{1,2}-\d{4})\s*(?:\\n|\n)\s*(\d[\w.]*)/;

type EntryValues = ReturnType<typeof entryValues>;

export function entryValues({ ListName }: RegisterEntry, { Values }: EntryDetail, issue: IssueSink) {
  const value = (key: string): string | undefined =>
    textOfHtml(Values.find(({ Key }) => Key.toLowerCase() === key)?.Value);
  const datum = value('datum');
  const day = datum === undefined ? undefined : entryDay(datum);
  if (datum !== undefined && day === undefined) issue('unusable-value', `Datum is not a date: ${datum.slice(0, 40)}`);
  const agendapunt = value('agendapunt');
  const [, type = '', written = '', number = ''] = AGENDAPUNT.exec(agendapunt?.slice(0, MAX_REFERENCE) ?? '') ?? [];
  const on = entryDay(written);
  return {
    title: lineOfHtml(Values.find(({ Key }) => Key.toLowerCase() === 'onderwerp')?.Value),
    day,
    /** As written, and as interpreted in `reference`. */
    agendapunt,
    /** Its outcome and, of a motion, its proposers. */
    omschrijving: describeEntry(
      lineOfHtml(ListName),
      Values.map(({ Key: label, Value }) => ({ label, value: Value })),
    ),
    reference: on === undefined ? undefined : { type, day: on, number: bareNumber(number) },
  };
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Reads `Jan 29 2026 12:00AM`, `29-1-2026` or an ISO date. */
export function entryDay(text: string): string | undefined {
  const [, name = '', day, year] = /^([A-Za-z]{3})\s+(\d{1,2})\s+(\d{4})\b/.exec(text) ?? [];
  const [, dutchDay, dutchMonth, dutchYear] = /^(\d{1,2})-(\d{1,2})-(\d{4})\b/.exec(text) ?? [];
  const month = MONTHS.indexOf(name.toLowerCase()) + 1;
  const iso = (y: string, m: string | number, d = ''): string =>
    `${y}-${String(m).padStart(2, '0')}-${d.padStart(2, '0')}`;
  if (year !== undefined) return month === 0 ? undefined : readMoment(iso(year, month, day)).moment?.day;
  if (dutchYear !== undefined) return readMoment(iso(dutchYear, dutchMonth ?? '', dutchDay)).moment?.day;
  return readMoment(text).moment?.day;
}

/** Maps a register entry to its documents, or to a document of its own. */
export function mapIbabsEntry(
  entry: RegisterEntry,
  detail: EntryDetail,
  values: EntryValues,
  agendapunten: readonly string[],
  { source, issue }: Pick<MeetingMapping, 'source' | 'issue'>,
): MappedItem {
  const kind = lineOfHtml(entry.ListName);
  // The label says how the files relate to the entry: "Bijlage(s)".
  const label = lineOfHtml(detail.DocumentsLabel);
  const described = [label === kind ? undefined : label, values.omschrijving].filter((text) => text !== undefined);
  const documents = documentsOf(detail, source, issue, kind);
  const changed = dutchMoment(entry.MutationDate, undefined, 'MutationDate', issue);
  const itself: FoundDocument = {
    bronidentificatie: registerItemId(entry.EntryMasterId ?? entry.EntryId),
    isHidden: false,
    titel: values.title ?? lineOfHtml(entry.EntryTitle) ?? 'Registerstuk',
    webpaginalink: `${portalOf(source)}/Reports/Item/${entry.EntryId}`,
    modifiedDay: changed?.day,
    members: { gewijzigdop: changed?.utc, informatieobjecttype: kind },
  };
  const day = values.day ?? values.reference?.day;
  const omschrijving = documents.length === 0 ? values.omschrijving : described.join('\n') || undefined;
  const attachment = { vergaderingen: [], agendapunten, registerdag: day, omschrijving };
  const mapped = mapEntry(documents.length === 0 ? [itself] : documents, attachment, {
    source,
    page: portalOf(source),
  });
  return { ...mapped, day };
}
