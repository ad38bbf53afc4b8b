/** Maps NotuBiz data to the resources of the feed; see `docs/aggregator.md`. */
import { lineOfHtml, textOfHtml } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { references } from '../supplier/mapping.ts';
import { mediaTypeIn } from '../supplier/media-type.ts';
import type { FoundItem, FoundMeeting } from '../supplier/meeting.ts';
import { isSet } from '../supplier/read-answer.ts';
import { describeEntry } from '../supplier/register-values.ts';
import type { AdapterSource, DocumentRead } from '../supplier/source-adapter.ts';
import { organisatieOf, withoutAbsent } from '../supplier/source-adapter.ts';
import { addressOf, momentOf, timeOf } from '../supplier/values.ts';
import type { Names } from './names.ts';
import {
  type AgendaItem,
  attributeOf,
  type Meeting,
  type NotubizDocument,
  type RegisterItem,
  registerDate,
  registerValue,
} from './schema.ts';

/** What every mapping of one reading uses. */
export interface MappingContext {
  readonly source: AdapterSource;
  /** Labels of the meeting's attributes; `undefined` when the organisation gives none. */
  readonly labels: Names | undefined;
  readonly gremia: Names;
  /** Base of the API, for the addresses of files. */
  readonly base: string;
  readonly now: Date;
  /** Woo categories by `type:<name>` of a document, or by `register:<name or number>` where that has none; in lower case. */
  readonly categories: ReadonlyMap<string, string>;
}

/** How the resources of NotuBiz are called in the feed. */
export const meetingId = (id: string): string => `meeting-${id}`;
export const agendapuntId = (id: string): string => `agendapunt-${id}`;
/** A register item that has no file. */
export const registerItemId = (id: string): string => `registerstuk-${id}`;
export const documentId = (id: string): string => `document-${id}`;

/** The address of a register item; register 0 means any register. */
export function modulePath(register: string, id: string): string {
  return `/modules/${register}/items/${id}`;
}

/** A page on the organisation's portal, when that is configured. */
function portalPage({ portaal }: AdapterSource, path: string): string | undefined {
  return portaal === undefined ? undefined : `${portaal.replace(/(?<!\/)\/+$/, '')}/${path}`;
}

/** What a meeting's own answer does not say: ids of what is published too. */
interface MeetingRelations {
  /** The assembly that it is a part of. */
  readonly parent: string | undefined;
  /** Its children, when it is an assembly. */
  readonly children: readonly string[] | undefined;
  /** Its agenda items, nested ones too, in their order. */
  readonly agenda: readonly { readonly item: AgendaItem; readonly parent: string | undefined }[];
}

/** A meeting or an assembly, without its documents. */
export function toFoundMeeting(
  meeting: Meeting,
  { parent, children, agenda }: MeetingRelations,
  { source, gremia, labels }: MappingContext,
  issue: IssueSink,
): FoundMeeting {
  const [planning] = meeting.plannings;
  const start = momentOf(planning?.start_date, 'start_date', issue);
  const labelled = (label: string, usualId: string): string | undefined =>
    labelledText(meeting.attributes, label, usualId, labels, issue);
  return {
    bronidentificatie: meetingId(meeting.id),
    said: isSet(meeting.canceled) ? 'geannuleerd' : undefined,
    start,
    end: timeOf(planning?.end_date, 'end_date', issue),
    naam: lineOfHtml(labelled('Titel', '1')) ?? (start === undefined ? 'Vergadering' : `Vergadering ${start.day}`),
    members: {
      gewijzigdop: timeOf(meeting.last_modified, 'last_modified', issue),
      webpaginalink: portalPage(source, `vergadering/${meeting.id}`) ?? addressOf(meeting.url, 'url', issue),
      locatie: lineOfHtml(labelled('Locatie', '50')),
      vergadertoelichting: textOfHtml(labelled('Omschrijving', '3')),
      vergaderingstype: lineOfHtml(meeting.body),
      hoofdvergadering: parent === undefined ? undefined : { bronidentificatie: meetingId(parent) },
      deelvergaderingen: children && references(children.map(meetingId)),
    },
    gremium: gremiumOf(meeting.gremium?.id, gremia, issue),
    documents: [],
    items: agenda.map(({ item, parent: above }) => toFoundItem(item, above, issue)),
  };
}

function gremiumOf(
  id: string | undefined,
  gremia: Names,
  issue: IssueSink,
): { gremiumidentificatie: string; gremiumnaam: string } | undefined {
  if (id === undefined) return undefined;
  const gremiumnaam = gremia.get(id) ?? '';
  if (gremiumnaam !== '') return { gremiumidentificatie: id, gremiumnaam };
  // Both members belong to it, or it is left out.
  issue('unknown-gremium', `gremium ${id} has no name`);
  return undefined;
}

/** The value of an attribute as it is written; something else than text or a number is reported. */
function attributeText(attributes: Meeting['attributes'], id: string, issue: IssueSink): string | undefined {
  const value = attributeOf(attributes, id);
  if (typeof value === 'object') issue('unusable-value', `attribute ${id} is not text`);
  return textOf(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/**
 * The attribute that the organisation labels so. Where no attribute has the label, the one with the usual id, unless the
 * organisation calls that something else.
 */
function labelledText(
  attributes: Meeting['attributes'],
  label: string,
  usualId: string,
  labels: Names | undefined,
  issue: IssueSink,
): string | undefined {
  const ids = [...(labels ?? [])].filter(([, name]) => name.toLowerCase() === label.toLowerCase()).map(([id]) => id);
  if (ids.length === 0) return attributeText(attributes, usualId, issue);
  return ids.map((id) => attributeText(attributes, id, issue)).find((value) => value !== undefined);
}

function toFoundItem(item: AgendaItem, parent: string | undefined, issue: IssueSink): FoundItem {
  const about: IssueSink = (what, detail) => issue(what, `agenda item ${item.id}: ${detail}`);
  const { attributes } = item.type_data;
  const prefix = lineOfHtml(item.type_data.title_prefix);
  const agendapuntnaam = lineOfHtml(attributeText(attributes, '1', about)) ?? prefix ?? 'Agendapunt';
  const time = (id: string): string | undefined => timeOf(attributeOf(attributes, id), `attribute ${id}`, about);
  return {
    bronidentificatie: agendapuntId(item.id),
    isHidden: false,
    parent: parent === undefined ? undefined : agendapuntId(parent),
    agendapuntnaam,
    members: {
      gewijzigdop: timeOf(item.last_modified, 'last_modified', about),
      omschrijving: textOfHtml(attributeText(attributes, '3', about)),
      geplandestarttijd: time('82'),
      geplandeeindtijd: time('83'),
      starttijd: timeOf(item.start_date, 'start_date', about),
      eindtijd: timeOf(item.end_date, 'end_date', about),
      volgnummer: lineOfHtml(item.order),
      geplandvolgnummer: prefix,
      tussenkop: isSubheading(item) ? agendapuntnaam : undefined,
    },
    documents: [],
  };
}

/** `heading` is a boolean in the recordings; text in it, or a type that is not an agenda point, says the same. */
function isSubheading({ type, type_data: { heading } }: AgendaItem): boolean {
  if (type === 'label' || type === 'heading' || heading === true) return true;
  return Number(heading) === 1 || (typeof heading === 'string' && heading !== '0');
}

/** As `formaat` in the contract of the feed. */
const MEDIA_TYPE = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+(?:\s*;.*)?$/;

/**
 * Maps a document to what an InformatieObject has of itself; references, category and, where it has none of its own, its date follow
 * from all its items.
 */
export function mapInformatieObject(
  document: NotubizDocument,
  context: MappingContext,
  issue: IssueSink,
): DocumentRead {
  const about: IssueSink = (what, detail) => issue(what, `document ${document.id}: ${detail}`);
  const { id } = document;
  const version = document.version === 0 ? undefined : document.version;
  const file = document.versions.find((candidate) => version !== undefined && candidate.id === version);
  if (version === undefined) about('unusable-value', 'does not say which version is current');
  else if (file === undefined) about('unusable-value', `version ${version} is not in versions`);
  const url = addressOf(document.url, 'url', about);
  const bestandsurl = version === undefined ? url : `${context.base}/document/${id}/${version}`;
  const page = portalPage(context.source, `document/${id}${version === undefined ? '' : `/${version}`}`);
  const titel = lineOfHtml(document.title) ?? lineOfHtml(file?.file_name);
  if (titel === undefined) about('unusable-value', 'has neither a title nor a file name');
  const type = document.types.map(({ value }) => lineOfHtml(value)).find((value) => value !== undefined);
  const category = context.categories.get(`type:${type?.toLowerCase()}`);
  const modified = momentOf(document.last_modified, 'last_modified', about);
  return {
    bronidentificatie: documentId(id),
    version: version ?? 0,
    data: {
      bronidentificatie: documentId(id),
      dossiertype: 'informatieobject',
      organisatie: organisatieOf(context.source),
      webpaginalink: page ?? url ?? bestandsurl ?? `${context.base}/document/${id}`,
      titel: titel ?? `Document ${id}`,
      ...withoutAbsent({
        gewijzigdop: modified?.utc,
        bestandsurl,
        formaat: mediaType(file?.mime_type, about) ?? mediaTypeIn([file?.file_name], url),
        omvang: file?.file_size,
        informatieobjecttype: type,
      }),
    },
    // Never `publication_date`: that is the day of the reading, and every record would change each day.
    date: momentOf(document.date, 'date', about)?.day,
    modifiedDay: modified?.day,
    ...(category === undefined ? {} : { wooinformatiecategorie: category }),
  };
}

function mediaType(value: string | undefined, issue: IssueSink): string | undefined {
  if (value === undefined || MEDIA_TYPE.test(value)) return value;
  issue('unusable-value', `mime_type is not a media type: ${value.slice(0, 100)}`);
  return undefined;
}

/** Of a motion its outcome and proposers. What has a name besides its number is shown by that. */
export function describeItem({ attributes }: RegisterItem, register: string | undefined): string | undefined {
  const values = attributes.flatMap((attribute) =>
    attribute.values.map(({ content, meta_data: meta }) => ({
      label: attribute.label,
      value: meta?.label ?? (meta?.reference_model === undefined ? textOf(content) : undefined),
    })),
  );
  return describeEntry(register, values);
}

/** Maps a register item without any file: many motions and questions have none. */
export function mapRegisterItem(
  item: RegisterItem,
  register: string | undefined,
  context: MappingContext,
  issue: IssueSink,
): DocumentRead {
  const about: IssueSink = (what, detail) => issue(what, `register item ${item.id}: ${detail}`);
  const modified = momentOf(item.last_modified, 'last_modified', about);
  const page = portalPage(context.source, `modules/0/items/${item.id}`) ?? addressOf(item.self, 'self', about);
  return {
    bronidentificatie: registerItemId(item.id),
    version: 0,
    date: momentOf(registerDate(item), 'attribute 15', about)?.day,
    modifiedDay: modified?.day,
    data: {
      bronidentificatie: registerItemId(item.id),
      dossiertype: 'informatieobject',
      organisatie: organisatieOf(context.source),
      webpaginalink: page ?? `${context.base}${modulePath('0', item.id)}`,
      titel: lineOfHtml(textOf(registerValue(item, '1'))) ?? 'Registerstuk',
      ...withoutAbsent({
        gewijzigdop: modified?.utc,
        informatieobjecttype: register === '' ? undefined : register,
        omschrijving: describeItem(item, register),
      }),
    },
  };
}
