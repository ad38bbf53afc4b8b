/** Maps what iBabs has to the resources of the feed. */
import type { AttachedDocument, Attachment } from '../supplier/document-collector.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { bareNumber, endOf, nestByNumber, references, saysCanceled, statusOf } from '../supplier/mapping.ts';
import { mediaTypeOf } from '../supplier/media-type.ts';
import {
  type AdapterSource,
  type DocumentRead,
  organisatieOf,
  type PartName,
  type UpsertLine,
  withoutAbsent,
} from '../supplier/source-adapter.ts';
import type { MappedItem } from '../supplier/supplier.ts';
import { addressOf, localMomentOf, readMoment } from '../supplier/values.ts';
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
/** A register entry, also as the key of what is known of it. */
export const registerItemId = (id: string): string => `ibabs-registerstuk-${id}`;

/** The portal of an organisation at iBabs; where none was given its host is guessed from the name of the site. */
export function portalOf({ portaal, organisationId }: AdapterSource): string {
  return (portaal ?? `https://${organisationId}.bestuurlijkeinformatie.nl`).replace(/\/+$/, '');
}

export interface MeetingMapping {
  readonly source: AdapterSource;
  readonly now: Date;
  readonly issue: IssueSink;
}

/** How people call the type of a meeting. */
export function typeName(type: MeetingType | undefined): string | undefined {
  return type?.Description ?? type?.Meetingtype;
}

/** The day of a meeting. */
export function meetingDay({ MeetingDate: date }: IbabsMeeting): string | undefined {
  return readMoment(date).moment?.day;
}

/** Maps a meeting with its agenda and documents. */
export function mapMeeting(meeting: IbabsMeeting, type: MeetingType | undefined, mapping: MeetingMapping): MappedItem {
  const { source, now, issue } = mapping;
  const id = meetingId(meeting.Id);
  const { start, end, day } = timesOf(meeting, issue);
  const isCanceled = saysCanceled(type?.Meetingtype, type?.Description, meeting.Explanation);
  const status = statusOf({ isCanceled, moment: end ?? start, day }, now);
  const { shown, hidden, parents } = agendaOf(meeting.MeetingItems ?? [], issue);
  const name = typeName(type);
  const data = {
    bronidentificatie: id,
    dossiertype: 'vergadering',
    organisatie: organisatieOf(source),
    naam: name ?? (day === undefined ? 'Vergadering' : `Vergadering ${day}`),
    ...withoutAbsent({
      webpaginalink: `${portalOf(source)}/Agenda/Index/${meeting.Id}`,
      aanvang: start,
      einde: end,
      vergaderdatum: day,
      locatie: meeting.Location,
      vergadertoelichting: meeting.Explanation,
      vergaderstatus: status.name,
      vergaderingstype: type?.Meetingtype,
      georganiseerddoorgremium:
        name === undefined || meeting.MeetingtypeId === undefined
          ? undefined
          : { gremiumidentificatie: meeting.MeetingtypeId, gremiumnaam: name },
    }),
    agendapunten: references(shown.map((item) => agendapuntId(item.Id))),
  };
  const nested = Map.groupBy(shown, ({ Id }) => parents.get(Id));
  const agenda = shown.map((item): UpsertLine => {
    const children = (nested.get(item.Id) ?? []).map((other) => agendapuntId(other.Id));
    return {
      op: 'upsert',
      resourceType: 'Agendapunt',
      data: mapItem(item, { meeting: id, parent: parents.get(item.Id), children, source }),
    };
  });
  const own: Attachment = { vergaderingen: [id], agendapunten: [], vergaderdag: day };
  const places = [
    ...placesOf(meeting, own, source),
    ...shown.flatMap((item) => placesOf(item, { ...own, agendapunten: [agendapuntId(item.Id)] }, source)),
  ];
  const found = documentsOf(places, mapping);
  return {
    records: [{ op: 'upsert', resourceType: 'Vergadering', data }, ...agenda],
    labels: new Map([
      [id, [type?.Meetingtype, type?.Description].filter((one) => one !== undefined).join('\n')],
      ...shown.map((item) => [agendapuntId(item.Id), bareNumber(item.Features)] as const),
    ]),
    documents: found.documents,
    hidden: [
      ...found.hidden,
      ...hidden.map(({ Id }): PartName => ({ resourceType: 'Agendapunt', bronidentificatie: agendapuntId(Id) })),
    ],
    underHidden: [
      ...found.underHidden,
      ...hidden.flatMap((item) => allDocuments(item).map(({ Id }) => documentId(Id))),
    ],
    readAgainAfter: status.changesAt,
  };
}

interface MeetingTimes {
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly day: string | undefined;
}

function timesOf({ MeetingDate, StartTime, EndTime }: IbabsMeeting, issue: IssueSink): MeetingTimes {
  const date = localMomentOf(MeetingDate, 'MeetingDate', issue);
  if (date === undefined) return { start: undefined, end: undefined, day: undefined };
  const [from, to] = [clockTime(StartTime, 'StartTime', issue), clockTime(EndTime, 'EndTime', issue)];
  const start = from === undefined ? date.utc : at(date.day, from);
  // Past midnight it is the next day.
  const isNextDay = from !== undefined && to !== undefined && to < from;
  const end = to === undefined ? undefined : at(isNextDay ? dayAfter(date.day) : date.day, to);
  return { start, end: endOf(start, end, issue), day: date.day };
}

/** `20:00` of a time of day; midnight means that it is not known. */
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

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

interface Agenda {
  readonly shown: readonly IbabsItem[];
  /** Confidential items, and those nested under such. */
  readonly hidden: readonly IbabsItem[];
  /** Of those that are shown. */
  readonly parents: ReadonlyMap<string, string>;
}

function agendaOf(all: readonly IbabsItem[], issue: IssueSink): Agenda {
  const items = [...new Map(all.map((item) => [item.Id, item])).values()];
  const parents = nestByNumber(items.map(({ Id, Features }) => ({ id: Id, number: Features })));
  // Hidden when one of its copies is.
  const confidential = new Set(all.filter((item) => isConfidential(item, issue)).map(({ Id }) => Id));
  const isHidden = (id: string | undefined): boolean =>
    id !== undefined && (confidential.has(id) || isHidden(parents.get(id)));
  return {
    shown: items.filter(({ Id }) => !isHidden(Id)),
    hidden: all.filter(({ Id }) => isHidden(Id)),
    parents,
  };
}

interface ItemRelations {
  readonly meeting: string;
  readonly parent: string | undefined;
  readonly children: readonly string[];
  readonly source: AdapterSource;
}

function mapItem(item: IbabsItem, { meeting, parent, children, source }: ItemRelations): UpsertLine['data'] {
  return {
    bronidentificatie: agendapuntId(item.Id),
    dossiertype: 'agendapunt',
    organisatie: organisatieOf(source),
    agendapuntnaam: item.Title ?? `Agendapunt${item.Features === undefined ? '' : ` ${item.Features}`}`,
    vergadering: { bronidentificatie: meeting },
    ...withoutAbsent({
      omschrijving: item.Explanation,
      volgnummer: item.Features,
      hoofdagendapunt: parent === undefined ? undefined : { bronidentificatie: agendapuntId(parent) },
      subagendapunten: children.length === 0 ? undefined : references(children),
    }),
    indicatiebesloten: false,
  };
}

/** What has documents: a meeting, an item or an entry, directly and in its list items. */
type Holder = Pick<IbabsItem, 'Documents' | 'ListItems'>;

/** Documents in one place. */
interface Place {
  readonly documents: readonly IbabsDocument[];
  readonly isHidden: boolean;
  readonly attachment: Attachment;
  readonly source: AdapterSource;
  /** Of a register entry. */
  readonly register?: { readonly name: string | undefined; readonly label: string | undefined };
}

function placesOf({ Documents = [], ListItems = [] }: Holder, attachment: Attachment, source: AdapterSource): Place[] {
  return [
    { documents: Documents, isHidden: false, attachment, source },
    ...ListItems.map((item) => ({
      documents: item.Documents ?? [],
      isHidden: isConfidential(item),
      attachment,
      source,
    })),
  ];
}

function allDocuments({ Documents = [], ListItems = [] }: Holder): readonly IbabsDocument[] {
  return [...Documents, ...ListItems.flatMap((item) => item.Documents ?? [])];
}

function documentsOf(
  places: readonly Place[],
  { issue }: Pick<MeetingMapping, 'issue'>,
): Pick<MappedItem, 'documents' | 'hidden' | 'underHidden'> {
  const documents: AttachedDocument[] = [];
  const hidden: PartName[] = [];
  const underHidden: string[] = [];
  for (const { documents: found, isHidden, ...place } of places) {
    for (const document of found) {
      const bronidentificatie = documentId(document.Id);
      if (isConfidential(document, issue)) hidden.push({ resourceType: 'Informatieobject', bronidentificatie });
      else if (isHidden) underHidden.push(bronidentificatie);
      else documents.push({ read: mapDocument(document, place, issue), attachment: place.attachment });
    }
  }
  return { documents, hidden, underHidden };
}

function mapDocument(
  document: IbabsDocument,
  place: Omit<Place, 'documents' | 'isHidden'>,
  issue: IssueSink,
): DocumentRead {
  const { Id, FileName, DisplayName, FileSize, PublicDownloadURL } = document;
  const about: IssueSink = (what, detail) => issue(what, `document ${Id}: ${detail}`);
  const titel = DisplayName ?? FileName;
  if (titel === undefined) about('unusable-value', 'has neither a name nor a file name');
  const bestandsurl = addressOf(PublicDownloadURL, 'PublicDownloadURL', about);
  if (bestandsurl === undefined) about('unusable-value', 'has no address to download it from');
  return {
    bronidentificatie: documentId(Id),
    version: 0,
    data: {
      bronidentificatie: documentId(Id),
      dossiertype: 'informatieobject',
      organisatie: organisatieOf(place.source),
      webpaginalink: bestandsurl ?? portalOf(place.source),
      titel: titel ?? `Document ${Id}`,
      ...withoutAbsent({
        bestandsurl,
        formaat: mediaTypeOf(FileName),
        omvang: FileSize === 0 ? undefined : FileSize,
        informatieobjecttype: place.register?.label ?? place.register?.name,
      }),
    },
  };
}

/** The agenda item that an entry names: `Gemeenteraad 29-1-2026\n23 Title`, with a backslash and an n. */
export interface ItemReference {
  readonly type: string;
  readonly day: string;
  readonly number: string;
}

/** What an entry says with its values. */
export interface EntryValues {
  readonly title: string | undefined;
  readonly day: string | undefined;
  /** As it is written, and as it was understood. */
  readonly agendapunt: string | undefined;
  readonly reference: ItemReference | undefined;
}

/** Characters of a reference that are looked at: the title at its end does not matter. */
const MAX_REFERENCE = 300;
const AGENDAPUNT = /^(.+?)\s+(\d{1,2}-\d{1,2}-\d{4})\s*(?:\\n|\n)\s*(\d[\w.]*)/;

export function entryValues({ Values = [] }: EntryDetail, issue: IssueSink): EntryValues {
  const value = (key: string): string | undefined => Values.find(({ Key }) => Key.toLowerCase() === key)?.Value;
  const datum = value('datum');
  const day = datum === undefined ? undefined : entryDay(datum);
  if (datum !== undefined && day === undefined) issue('unusable-value', `Datum is not a date: ${datum.slice(0, 40)}`);
  const agendapunt = value('agendapunt');
  const [, type = '', written = '', number = ''] = AGENDAPUNT.exec(agendapunt?.slice(0, MAX_REFERENCE) ?? '') ?? [];
  const on = entryDay(written);
  return {
    title: value('onderwerp'),
    day,
    agendapunt,
    reference: on === undefined ? undefined : { type, day: on, number: bareNumber(number) },
  };
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** The day of `Jan 29 2026 12:00AM`, `29-1-2026` or an ISO date. */
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

interface EntryRelations {
  readonly vergaderingen: readonly string[];
  readonly agendapunten: readonly string[];
}

/** Maps a register entry: its documents, or itself when it has none. */
export function mapEntry(
  entry: RegisterEntry,
  detail: EntryDetail,
  values: EntryValues,
  relations: EntryRelations,
  mapping: Pick<MeetingMapping, 'source' | 'issue'>,
): MappedItem {
  const { source, issue } = mapping;
  const attachment: Attachment = { ...relations, registerdag: values.day ?? values.reference?.day };
  const documents = detail.Documents ?? [];
  const register = { name: entry.ListName, label: detail.DocumentsLabel };
  const found = documentsOf([{ documents, isHidden: false, attachment, source, register }], mapping);
  const id = registerItemId(entry.EntryMasterId ?? entry.EntryId);
  const changed = localMomentOf(entry.MutationDate, 'MutationDate', issue);
  const itself: AttachedDocument = {
    attachment,
    read: {
      bronidentificatie: id,
      version: 0,
      modifiedDay: changed?.day,
      data: {
        bronidentificatie: id,
        dossiertype: 'informatieobject',
        organisatie: organisatieOf(source),
        webpaginalink: `${portalOf(source)}/Reports/Item/${entry.EntryId}`,
        titel: values.title ?? entry.EntryTitle ?? 'Registerstuk',
        ...withoutAbsent({ gewijzigdop: changed?.utc, informatieobjecttype: entry.ListName }),
      },
    },
  };
  return {
    records: [],
    documents: documents.length === 0 ? [itself] : found.documents,
    hidden: found.hidden,
    underHidden: found.underHidden,
    readAgainAfter: null,
    day: values.day ?? values.reference?.day,
  };
}
