/** The GemeenteOplossingen answers that are used, and the resources made from them; see `docs/aggregator.md`. */
import type { SupplierVersion } from '../source.ts';
import { oneLine } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { mediaTypeIn } from '../supplier/media-type.ts';
import { type FoundDocument, type FoundItem, mapEntry, mapMeeting } from '../supplier/meeting.ts';
import {
  ANY,
  CANCELLED,
  COUNT,
  createReader,
  FLAG,
  HTML,
  ID,
  listOf,
  NAME,
  objectOf,
  TEXT,
  UNUSABLE,
  type ValueOf,
} from '../supplier/read-answer.ts';
import type { MappedItem, Reading } from '../supplier/supplier.ts';
import { addressOf, dutchMoment, type Moment, momentOf } from '../supplier/values.ts';

export const meetingId = (id: string): string => `go-meeting-${id}`;
const loneDocumentId = (id: string): string => `go-stuk-${id}`;

const MARK = { confidential: FLAG };
const DOCUMENT = objectOf(
  { id: ID },
  {
    filename: NAME,
    fileName: NAME,
    documentTypeLabel: NAME,
    title: NAME,
    description: HTML,
    fileSize: COUNT,
    publicationDate: ANY,
    ...MARK,
  },
);
const ITEM = { number: NAME, title: NAME, description: HTML, sortorder: ANY, ...MARK };
const MEETING = {
  date: ANY,
  startTime: ANY,
  description: HTML,
  location: NAME,
  canceled: CANCELLED,
  fullUrl: TEXT,
  ...MARK,
  dmu: { ...objectOf({ id: ID }, { name: NAME }), wrong: UNUSABLE },
};
const DOCUMENTS = { documents: listOf(DOCUMENT) };
const WHOLE_ITEM = objectOf({ id: ID, ...DOCUMENTS }, ITEM);
/** Version 1 shows a meeting whole; version 2 has a list for each of its parts. */
const WHOLE = objectOf({ id: ID, ...DOCUMENTS, items: listOf(WHOLE_ITEM) }, MEETING);
const BARE = objectOf({ id: ID }, MEETING);
const BARE_ITEM = objectOf({ id: ID }, ITEM);

export type GoMeeting = ValueOf<typeof WHOLE>;
export type BareMeeting = ValueOf<typeof BARE>;
type BareItem = ValueOf<typeof BARE_ITEM>;
export type GoDocument = ValueOf<typeof DOCUMENT>;

export const readWholeMeeting = createReader(WHOLE);
export const readBareMeeting = createReader(BARE);
const readItemList = createReader(objectOf({ list: listOf(BARE_ITEM) }));
const readDocumentList = createReader(objectOf({ list: listOf(DOCUMENT) }));
export const readItems = (list: unknown, issue: IssueSink): readonly BareItem[] =>
  readItemList({ list }, issue)?.list ?? [];
export const readDocuments = (list: unknown, issue: IssueSink): readonly GoDocument[] =>
  readDocumentList({ list }, issue)?.list ?? [];

export function isHidden({ confidential }: Pick<BareMeeting, 'confidential'>): boolean {
  return confidential === true;
}

export function versionOf({ request }: Reading): SupplierVersion {
  return request.source.options?.version ?? 'v1';
}

export function listMeeting(meeting: BareMeeting, issue: IssueSink) {
  const day = startOf(meeting, issue)?.day;
  return {
    key: meetingId(meeting.id),
    day,
    naam: nameOf(meeting, day),
    bodies: [oneLine(meeting.description), meeting.dmu?.name].filter((name) => name !== undefined),
    hidden: isHidden(meeting),
  };
}

export function listDocument(document: GoDocument, issue: IssueSink) {
  const { documentTypeLabel: type } = document;
  return {
    key: loneDocumentId(document.id),
    day: publicationDay(document, issue),
    stamp: undefined,
    naam: titleOf(document),
    bodies: type === undefined ? [] : [type],
    hidden: isHidden(document),
  };
}

function apiAddress(path: string, reading: Reading): string {
  return `${reading.request.source.organisationId}/${versionOf(reading)}/${path}`;
}

const downloadOf = ({ id }: GoDocument): string => `documents/${id}/download`;

export function mapGoMeeting(meeting: GoMeeting, reading: Reading): MappedItem {
  const issue = reading.issues.at(meetingId(meeting.id));
  const start = startOf(meeting, issue);
  const naam = nameOf(meeting, start?.day);
  const isAddressedByMeeting = versionOf(reading) === 'v1';
  const documentsOf = (documents: readonly GoDocument[]): FoundDocument[] =>
    documents.map((document) => {
      const path = isAddressedByMeeting ? `meetings/${meeting.id}/documents/${document.id}` : downloadOf(document);
      return { ...mapDocument(document, apiAddress(path, reading), issue), isAddressedByMeeting };
    });
  const found = {
    bronidentificatie: meetingId(meeting.id),
    isCancelled: meeting.canceled,
    names: [naam, meeting.dmu?.name],
    start,
    end: undefined,
    naam,
    members: {
      locatie: meeting.location,
      vergadertoelichting: meeting.description === naam ? undefined : meeting.description,
      webpaginalink: addressOf(meeting.fullUrl, 'fullUrl', issue),
    },
    gremium: { id: meeting.dmu?.id, naam: meeting.dmu?.name },
    documents: documentsOf(meeting.documents),
    items: meeting.items.map(
      (item): FoundItem => ({
        bronidentificatie: `go-agendapunt-${item.id}`,
        isHidden: isHidden(item),
        agendapuntnaam: item.title ?? item.number ?? 'Agendapunt',
        members: {
          omschrijving: item.description,
          volgnummer: /^\d{1,9}$/.test(String(item.sortorder)) ? String(item.sortorder) : undefined,
          geplandvolgnummer: item.number,
        },
        documents: documentsOf(item.documents),
      }),
    ),
  };
  return mapMeeting(found, reading, { issue, base: reading.request.source.organisationId });
}

export function mapLoneDocument(document: GoDocument, reading: Reading): MappedItem {
  const page = apiAddress(downloadOf(document), reading);
  const found = mapDocument(document, page, reading.issues.at(loneDocumentId(document.id)));
  const attachment = { registerdag: found.day };
  return mapEntry([found], attachment, { source: reading.request.source, page });
}

/** Version 1 writes a day or a local moment, version 2 a day with `startTime` beside it. */
function startOf({ date, startTime }: BareMeeting, issue: IssueSink): Moment | undefined {
  return dutchMoment(date, startTime, 'date', issue);
}

/** Some organisations write the whole invitation in the description. */
const MAX_NAME = 200;

function nameOf({ description, dmu }: BareMeeting, day: string | undefined): string {
  const isName = description !== undefined && description.length <= MAX_NAME && !description.includes('\n');
  if (isName) return description;
  return dmu?.name ?? (day === undefined ? 'Vergadering' : `Vergadering ${day}`);
}

function titleOf({ id, title, description, filename, fileName }: GoDocument): string {
  return title ?? oneLine(description) ?? filename ?? fileName ?? `Document ${id}`;
}

function mapDocument(document: GoDocument, bestandsurl: string, issue: IssueSink): FoundDocument {
  const { id, documentTypeLabel, fileSize, filename, fileName, description } = document;
  const about: IssueSink = (what, detail) => issue(what, `document ${id}: ${detail}`);
  const titel = titleOf(document);
  return {
    bronidentificatie: `go-document-${id}`,
    isHidden: isHidden(document),
    titel,
    day: publicationDay(document, about),
    members: {
      bestandsurl,
      formaat: mediaTypeIn([filename, fileName], bestandsurl),
      omvang: fileSize,
      informatieobjecttype: documentTypeLabel,
      omschrijving: oneLine(description) === titel ? undefined : description,
    },
  };
}

const readDate = createReader(objectOf({}, { date: ANY }));

/** `{date, timezone}`: a local time in that zone, of which the day is used. */
function publicationDay({ publicationDate }: GoDocument, issue: IssueSink): string | undefined {
  if (publicationDate === undefined) return undefined;
  const { date } = readDate(publicationDate, issue) ?? {};
  return momentOf(date, 'publicationDate', issue)?.day;
}
