/** A meeting in a form shared by suppliers, and the resources made from it. */
import type { AttachedDocument } from './documents.ts';
import type { IssueSink } from './issue-log.ts';
import { references, withNested } from './mapping.ts';
import { saidStatus } from './said-status.ts';
import {
  type AdapterSource,
  type DocumentRead,
  documentName,
  organisatieOf,
  type PartName,
  type UpsertLine,
  withoutAbsent,
} from './source-adapter.ts';
import type { MappedItem, Reading } from './supplier.ts';
import type { Moment } from './values.ts';

type Members<K extends string, T = string> = { readonly [name in K]?: T | undefined };

interface Reference {
  readonly bronidentificatie: string;
}

export interface FoundDocument {
  /** With the prefix of the supplier. */
  readonly bronidentificatie: string;
  readonly isHidden: boolean;
  /** The item is confidential. */
  readonly isUnderHidden?: boolean;
  /** Absent: that of its earliest meeting. */
  readonly day?: string | undefined;
  readonly titel: string;
  /** Its page; absent: its file, or else the meeting. */
  readonly webpaginalink?: string | undefined;
  readonly members: Members<'gewijzigdop' | 'bestandsurl' | 'formaat' | 'informatieobjecttype' | 'omschrijving'> &
    Members<'omvang', number>;
  /** The address of its file names the meeting: that of the earliest meeting counts. */
  readonly isAddressedByMeeting?: boolean;
  readonly version?: number | undefined;
  readonly modifiedDay?: string | undefined;
  readonly wooinformatiecategorie?: string | undefined;
  /** Of the register entry through which it was found. */
  readonly agendapunten?: readonly string[];
  readonly registerdag?: string | undefined;
}

export function withheldDocument(bronidentificatie: string, isHidden: boolean): FoundDocument {
  return { bronidentificatie, isHidden, isUnderHidden: !isHidden, titel: '', members: {} };
}

export interface FoundItem {
  readonly bronidentificatie: string;
  readonly isHidden: boolean;
  readonly parent?: string | undefined;
  readonly agendapuntnaam: string;
  readonly members: Members<'omschrijving' | 'volgnummer' | 'geplandvolgnummer' | 'tussenkop' | 'gewijzigdop'> &
    Members<'geplandestarttijd' | 'geplandeeindtijd' | 'starttijd' | 'eindtijd'>;
  readonly documents: readonly FoundDocument[];
}

/** Never confidential: `list` or `read` leaves confidential meetings out. */
export interface FoundMeeting {
  readonly bronidentificatie: string;
  /** By a member of its own; `undefined` without one: then the names and the explanation may say that it does not take place. */
  readonly isCancelled: boolean | undefined;
  /** Of the meeting, its type or its body. */
  readonly names?: readonly (string | undefined)[];
  readonly start: Moment | undefined;
  readonly end: string | undefined;
  /** Absent: "Vergadering", with its day. */
  readonly naam: string | undefined;
  readonly members: Members<'locatie' | 'vergadertoelichting' | 'vergaderingstype' | 'webpaginalink' | 'gewijzigdop'> &
    Members<'hoofdvergadering', Reference> &
    Members<'deelvergaderingen', readonly Reference[]>;
  readonly gremium: { readonly id: string | undefined; readonly naam: string | undefined } | undefined;
  readonly documents: readonly FoundDocument[];
  readonly items: readonly FoundItem[];
}

interface MeetingContext {
  readonly issue: IssueSink;
  /** For a document without page or file, in a meeting without a page. */
  readonly base: string;
  /** For documents of a meeting without a day; absent: the first of the window. */
  readonly usualDay?: string | undefined;
}

export function mapMeeting(
  meeting: FoundMeeting,
  { request, now }: Pick<Reading, 'request' | 'now'>,
  { issue, base, usualDay = request.window.from }: MeetingContext,
): MappedItem {
  const { source } = request;
  const { bronidentificatie, start, members, items } = meeting;
  const day = start?.day;
  const hidden = withNested(
    items.filter(({ isHidden }) => isHidden).map((item) => item.bronidentificatie),
    items.map((item) => [item.bronidentificatie, item.parent]),
  );
  const agenda = [...new Map(items.map((item) => [item.bronidentificatie, item])).values()];
  const shown = agenda.filter((item) => !hidden.has(item.bronidentificatie));
  const end = endOf(start?.utc, meeting.end, issue);
  const { status, changesAt } = statusOf(meeting, end ?? start?.utc, now);
  const vergadering: UpsertLine = {
    op: 'upsert',
    resourceType: 'Vergadering',
    data: {
      bronidentificatie,
      dossiertype: 'vergadering',
      organisatie: organisatieOf(source),
      naam: meeting.naam ?? (day === undefined ? 'Vergadering' : `Vergadering ${day}`),
      ...withoutAbsent({
        ...members,
        aanvang: start?.utc,
        einde: end,
        vergaderdatum: day,
        vergaderstatus: status,
        georganiseerddoorgremium: gremiumOf(meeting, issue),
      }),
      agendapunten: references(shown.map((item) => item.bronidentificatie)),
    },
  };
  const attach = (documents: readonly FoundDocument[], agendapunten: readonly string[]): AttachedDocument[] =>
    documents.filter(isShown).map((document) => ({
      read: mapInformatieObject(document, members.webpaginalink ?? base, source),
      attachment: {
        vergaderingen: [bronidentificatie],
        agendapunten: [...agendapunten, ...(document.agendapunten ?? [])],
        vergaderdag: day ?? usualDay,
        registerdag: document.registerdag,
        bestandsurl: document.isAddressedByMeeting === true ? document.members.bestandsurl : undefined,
      },
    }));
  const withheld = withheldOf([...meeting.documents, ...items.flatMap(({ documents }) => documents)]);
  const ofHidden = items.filter((item) => hidden.has(item.bronidentificatie)).flatMap(({ documents }) => documents);
  return {
    records: [vergadering, ...mapAgenda(shown, bronidentificatie, source)],
    documents: [
      ...attach(meeting.documents, []),
      ...shown.flatMap((item) => attach(item.documents, [item.bronidentificatie])),
    ],
    hidden: [
      ...[...hidden].map((id): PartName => ({ resourceType: 'Agendapunt', bronidentificatie: id })),
      ...withheld.hidden,
    ],
    underHidden: [...ofHidden.map((document) => documentName(document.bronidentificatie)), ...withheld.underHidden],
    readAgainAfter: changesAt,
  };
}

/** An end needs a start before it. Both RFC 3339 in UTC. */
function endOf(start: string | undefined, end: string | undefined, issue: IssueSink): string | undefined {
  if (end === undefined || (start !== undefined && end >= start)) return end;
  issue('unusable-value', start === undefined ? 'end_date: an end without a start' : 'end_date: before the start');
  return undefined;
}

/** `vergaderstatus`, and when (UTC) `gepland` becomes `gehouden`; `null`: never. @param moment its end, or else its beginning */
function statusOf(
  { isCancelled, names = [], start, members }: FoundMeeting,
  moment: string | undefined,
  now: Date,
): { readonly status: string | undefined; readonly changesAt: string | null } {
  const day = start?.day;
  const said = isCancelled === undefined && saidStatus({ names, explanation: members.vergadertoelichting, day });
  if (said === 'unclear') return { status: undefined, changesAt: null };
  const status = isCancelled === true ? 'geannuleerd' : said || undefined;
  const changesAt = moment ?? (day === undefined ? null : `${day}T23:00:00Z`);
  if (status !== undefined || changesAt === null) return { status, changesAt: null };
  return Date.parse(changesAt) > now.getTime()
    ? { status: 'gepland', changesAt }
    : { status: 'gehouden', changesAt: null };
}

function gremiumOf({ gremium: { id, naam } = { id: undefined, naam: undefined } }: FoundMeeting, issue: IssueSink) {
  if (id === undefined) return undefined;
  if (naam !== undefined) return { gremiumidentificatie: id, gremiumnaam: naam };
  issue('unknown-gremium', `gremium ${id} has no name`);
  return undefined;
}

export function withheldOf(documents: readonly FoundDocument[]): Pick<MappedItem, 'hidden' | 'underHidden'> {
  const namesOf = (some: readonly FoundDocument[]) => some.map((one) => documentName(one.bronidentificatie));
  return {
    hidden: namesOf(documents.filter(({ isHidden }) => isHidden)),
    underHidden: namesOf(documents.filter(({ isUnderHidden }) => isUnderHidden === true)),
  };
}

export function mapEntry(
  documents: readonly FoundDocument[],
  attachment: AttachedDocument['attachment'],
  { source, page }: { readonly source: AdapterSource; readonly page: string },
): MappedItem {
  return {
    records: [],
    documents: documents
      .filter(isShown)
      .map((document) => ({ read: mapInformatieObject(document, page, source), attachment })),
    ...withheldOf(documents),
    readAgainAfter: null,
  };
}

function isShown({ isHidden, isUnderHidden }: FoundDocument): boolean {
  return !isHidden && isUnderHidden !== true;
}

function mapAgenda(items: readonly FoundItem[], meeting: string, source: AdapterSource): UpsertLine[] {
  const ids = new Set(items.map(({ bronidentificatie }) => bronidentificatie));
  const byParent = Map.groupBy(items, ({ parent }) => parent);
  return items.map(({ bronidentificatie, agendapuntnaam, members, parent = bronidentificatie }) => {
    const below = (byParent.get(bronidentificatie) ?? []).map((item) => item.bronidentificatie);
    const nested = below.filter((id) => id !== bronidentificatie);
    const isNested = parent !== bronidentificatie && ids.has(parent);
    return {
      op: 'upsert',
      resourceType: 'Agendapunt',
      data: {
        bronidentificatie,
        dossiertype: 'agendapunt',
        organisatie: organisatieOf(source),
        agendapuntnaam,
        vergadering: { bronidentificatie: meeting },
        ...withoutAbsent({
          ...members,
          hoofdagendapunt: isNested ? { bronidentificatie: parent } : undefined,
          subagendapunten: nested.length === 0 ? undefined : references(nested),
        }),
        indicatiebesloten: false,
      },
    };
  });
}

function mapInformatieObject(document: FoundDocument, page: string, source: AdapterSource): DocumentRead {
  const { bronidentificatie, titel, members, day, webpaginalink, version = 0 } = document;
  return {
    bronidentificatie,
    version,
    date: day,
    modifiedDay: document.modifiedDay,
    wooinformatiecategorie: document.wooinformatiecategorie,
    data: {
      bronidentificatie,
      dossiertype: 'informatieobject',
      organisatie: organisatieOf(source),
      webpaginalink: webpaginalink ?? members.bestandsurl ?? page,
      titel,
      ...withoutAbsent(members),
    },
  };
}
