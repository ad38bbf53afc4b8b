/** A meeting in a form shared by suppliers, and the resources made from it. */
import type { AttachedDocument, Attachment } from './attachments.ts';
import type { IssueSink } from './issue-log.ts';
import { endOf, references, statusOf, withNested } from './mapping.ts';
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
import type { MappedItem } from './supplier.ts';
import type { Moment } from './values.ts';

/** Members of a resource by their names in the feed. */
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

/** Only its name is known. */
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
  /** UTC. */
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

export interface MeetingContext {
  readonly source: AdapterSource;
  readonly now: Date;
  readonly issue: IssueSink;
  /** For a document without page or file, in a meeting without a page. */
  readonly base: string;
  /** For documents of a meeting without a day. */
  readonly usualDay: string;
}

export function mapMeeting(meeting: FoundMeeting, context: MeetingContext): MappedItem {
  const { source, now, issue } = context;
  const { bronidentificatie } = meeting;
  const { shown, hidden, isHidden } = splitAgenda(meeting.items);
  const { start, members, isCancelled, names = [] } = meeting;
  const day = start?.day;
  const explanation = members.vergadertoelichting;
  const byMember = isCancelled === true ? 'geannuleerd' : undefined;
  const said = isCancelled === undefined ? saidStatus({ names, explanation, day }) : byMember;
  const end = endOf(start?.utc, meeting.end, issue);
  const status = statusOf({ said, moment: end ?? start?.utc, day }, now);
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
        vergaderstatus: status.name,
        georganiseerddoorgremium: gremiumOf(meeting, issue),
      }),
      agendapunten: references(shown.map((item) => item.bronidentificatie)),
    },
  };
  const withheld = withheldOf([...meeting.documents, ...meeting.items.flatMap(({ documents }) => documents)]);
  const ofHidden = meeting.items.filter(isHidden).flatMap(({ documents }) => documents);
  return {
    records: [vergadering, ...mapAgenda(shown, bronidentificatie, source)],
    documents: attachDocuments(meeting, shown, context),
    hidden: [
      ...hidden.map((item): PartName => ({ resourceType: 'Agendapunt', bronidentificatie: item.bronidentificatie })),
      ...withheld.hidden,
    ],
    underHidden: [...ofHidden.map((document) => documentName(document.bronidentificatie)), ...withheld.underHidden],
    readAgainAfter: status.changesAt,
  };
}

/** Both members, or neither. */
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
  attachment: Attachment,
  { source, page }: { readonly source: AdapterSource; readonly page: string },
): MappedItem {
  return {
    records: [],
    documents: documents.filter(isShown).map((document) => ({
      read: mapInformatieObject(document, page, source),
      attachment,
    })),
    ...withheldOf(documents),
    readAgainAfter: null,
  };
}

function isShown({ isHidden, isUnderHidden }: FoundDocument): boolean {
  return !isHidden && isUnderHidden !== true;
}

/** Each item once; those nested in a hidden one are hidden too. */
function splitAgenda(items: readonly FoundItem[]) {
  const hidden = withNested(
    items.filter(({ isHidden }) => isHidden).map(({ bronidentificatie }) => bronidentificatie),
    items.map(({ bronidentificatie, parent }) => [bronidentificatie, parent]),
  );
  const isHidden = ({ bronidentificatie }: FoundItem): boolean => hidden.has(bronidentificatie);
  const all = [...new Map(items.map((item) => [item.bronidentificatie, item])).values()];
  return { shown: all.filter((item) => !isHidden(item)), hidden: all.filter(isHidden), isHidden };
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

function attachDocuments(
  meeting: FoundMeeting,
  shown: readonly FoundItem[],
  { source, base, usualDay }: MeetingContext,
): AttachedDocument[] {
  const page = meeting.members.webpaginalink ?? base;
  const vergaderdag = meeting.start?.day ?? usualDay;
  const attach = (documents: readonly FoundDocument[], agendapunten: readonly string[]): AttachedDocument[] =>
    documents.filter(isShown).map((document) => ({
      read: mapInformatieObject(document, page, source),
      attachment: {
        vergaderingen: [meeting.bronidentificatie],
        agendapunten: [...agendapunten, ...(document.agendapunten ?? [])],
        vergaderdag,
        registerdag: document.registerdag,
        ...(document.isAddressedByMeeting === true ? { bestandsurl: document.members.bestandsurl } : {}),
      },
    }));
  return [
    ...attach(meeting.documents, []),
    ...shown.flatMap((item) => attach(item.documents, [item.bronidentificatie])),
  ];
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
