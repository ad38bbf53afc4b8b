/** Maps NotuBiz data to the resources of the feed; see `docs/aggregator.md`. */
import { lineOfHtml, textOfHtml } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { withNested } from '../supplier/mapping.ts';
import { mediaTypeIn } from '../supplier/media-type.ts';
import { type FoundDocument, type FoundItem, withheldDocument } from '../supplier/meeting.ts';
import { describeEntry } from '../supplier/register-values.ts';
import type { AdapterSource } from '../supplier/source-adapter.ts';
import { addressOf, momentOf, timeOf } from '../supplier/values.ts';
import type { Names, Session } from './api.ts';
import {
  type AgendaItem,
  attributeOf,
  isHidden,
  type Meeting,
  type NotubizDocument,
  type RegisterItem,
  registerDate,
  registerValue,
} from './schema.ts';

export const meetingId = (id: string): string => `meeting-${id}`;
export const agendapuntId = (id: string): string => `agendapunt-${id}`;
export const registerItemId = (id: string): string => `registerstuk-${id}`;
export const documentId = (id: string): string => `document-${id}`;

export function modulePath(register: string, id: string): string {
  return `/modules/${register}/items/${id}`;
}

export function portalPage({ portaal }: AdapterSource, path: string): string | undefined {
  return portaal === undefined ? undefined : `${portaal.replace(/(?<!\/)\/+$/, '')}/${path}`;
}

/** The attribute with this label. Without one, the attribute with the usual id, unless the organisation calls that something else. */
export function labelledText(
  attributes: Meeting['attributes'],
  label: string,
  usualId: string,
  labels: Names,
  issue: IssueSink,
): string | undefined {
  const ids = [...labels].filter(([, name]) => name.toLowerCase() === label.toLowerCase()).map(([id]) => id);
  return (ids.length === 0 ? [usualId] : ids)
    .map((id) => attributeText(attributes, id, issue))
    .find((value) => value !== undefined);
}

function attributeText(attributes: Meeting['attributes'], id: string, issue: IssueSink): string | undefined {
  const value = attributeOf(attributes, id);
  if (typeof value === 'object') issue('unusable-value', `attribute ${id} is not text`);
  return textOf(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Reads nothing of a confidential item that an issue could reveal. */
export function withheldItem({ id, documents }: AgendaItem): FoundItem {
  return {
    bronidentificatie: agendapuntId(id),
    isHidden: true,
    agendapuntnaam: '',
    members: {},
    documents: documents.map(withheld),
  };
}

export function withheld(document: NotubizDocument): FoundDocument {
  return withheldDocument(documentId(document.id), isHidden(document));
}

export function toFoundItem(
  item: AgendaItem,
  parent: string | undefined,
  issue: IssueSink,
): Omit<FoundItem, 'documents'> {
  const about: IssueSink = (what, detail) => issue(what, `agenda item ${item.id}: ${detail}`);
  const { attributes, title_prefix: prefix } = item.type_data;
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
      volgnummer: item.order,
      geplandvolgnummer: prefix,
      tussenkop: isSubheading(item) ? agendapuntnaam : undefined,
    },
  };
}

/** `heading` is a boolean in the recordings; text in it, or a type that is not an agenda point, says the same. */
function isSubheading({ type, type_data: { heading } }: AgendaItem): boolean {
  if (type === 'label' || type === 'heading' || heading === true) return true;
  return Number(heading) === 1 || (typeof heading === 'string' && heading !== '0');
}

/** @param register its name: the type of a document that states none */
export function toFoundDocument(
  document: NotubizDocument,
  register: string | undefined,
  { client, request, categories }: Session,
  issue: IssueSink,
): FoundDocument {
  if (isHidden(document)) return withheld(document);
  const { id } = document;
  const about: IssueSink = (what, detail) => issue(what, `document ${id}: ${detail}`);
  const version = document.version === 0 ? undefined : document.version;
  const file = document.versions.find((candidate) => version !== undefined && candidate.id === version);
  if (version === undefined) about('unusable-value', 'does not say which version is current');
  else if (file === undefined) about('unusable-value', `version ${version} is not in versions`);
  const url = addressOf(document.url, 'url', about);
  const bestandsurl = version === undefined ? url : `${client.base}/document/${id}/${version}`;
  const page = portalPage(request.source, `document/${id}${version === undefined ? '' : `/${version}`}`);
  const titel = document.title ?? file?.file_name;
  if (titel === undefined) about('unusable-value', 'has neither a title nor a file name');
  const type = document.types.find(({ value }) => value !== undefined)?.value;
  const modified = momentOf(document.last_modified, 'last_modified', about);
  return {
    bronidentificatie: documentId(id),
    isHidden: false,
    version,
    titel: titel ?? `Document ${id}`,
    webpaginalink: page ?? url ?? bestandsurl ?? `${client.base}/document/${id}`,
    members: {
      gewijzigdop: modified?.utc,
      bestandsurl,
      formaat: file?.mime_type ?? mediaTypeIn([file?.file_name], url),
      omvang: file?.file_size,
      informatieobjecttype: type ?? register,
    },
    // Not `publication_date`: that is the day of the reading, and every record would change each day.
    day: momentOf(document.date, 'date', about)?.day,
    modifiedDay: modified?.day,
    wooinformatiecategorie: categories.get(`type:${type?.toLowerCase()}`),
  };
}

/** The outcome of a motion and its proposers. A label is shown rather than a number. */
export function describeItem({ attributes }: RegisterItem, register: string | undefined): string | undefined {
  const values = attributes.flatMap((attribute) =>
    attribute.values.map(({ content, meta_data: meta }) => ({
      label: attribute.label,
      value: meta?.label ?? (meta?.reference_model === undefined ? textOf(content) : undefined),
    })),
  );
  return describeEntry(register, values);
}

/** The documents of a register item; many motions and questions have none, and become a document themselves. */
export function toFoundDocuments(
  item: RegisterItem,
  register: string | undefined,
  session: Session,
  issue: IssueSink,
): readonly FoundDocument[] {
  const documents = documentsOfEntry(item);
  if (documents.length > 0) return documents.map((document) => toFoundDocument(document, register, session, issue));
  const about: IssueSink = (what, detail) => issue(what, `register item ${item.id}: ${detail}`);
  const modified = momentOf(item.last_modified, 'last_modified', about);
  const page = portalPage(session.request.source, `modules/0/items/${item.id}`) ?? addressOf(item.self, 'self', about);
  return [
    {
      bronidentificatie: registerItemId(item.id),
      isHidden: false,
      day: momentOf(registerDate(item), 'attribute 15', about)?.day,
      modifiedDay: modified?.day,
      webpaginalink: page ?? `${session.client.base}${modulePath('0', item.id)}`,
      titel: lineOfHtml(textOf(registerValue(item, '1'))) ?? 'Registerstuk',
      members: {
        gewijzigdop: modified?.utc,
        informatieobjecttype: register,
        omschrijving: describeItem(item, register),
      },
    },
  ];
}

export function withheldDocuments(item: RegisterItem): readonly FoundDocument[] {
  const documents = documentsOfEntry(item);
  return documents.length > 0 ? documents.map(withheld) : [withheldDocument(registerItemId(item.id), true)];
}

export function documentsOfEntry({ attributes, attachments }: RegisterItem): readonly NotubizDocument[] {
  const values = attributes.filter(({ datatype }) => datatype === 'document').flatMap((attribute) => attribute.values);
  const documents = values.map(({ document }) => document).filter((document) => document !== undefined);
  return [...documents, ...(attachments?.document ?? [])];
}

interface AgendaEntry {
  readonly item: AgendaItem;
  readonly hidden: boolean;
  readonly parent: string | undefined;
}

interface FlatAgenda {
  /** Each once, in the order of the agenda: an item before those nested in it. */
  readonly shown: readonly AgendaEntry[];
  readonly hidden: readonly AgendaItem[];
}

/** An item that occurs twice counts once, with the parent that either occurrence gives. */
export function flattenAgenda(items: readonly AgendaItem[]): FlatAgenda {
  const entries = new Map<string, AgendaEntry>();
  const walk = (level: readonly AgendaItem[], nestedIn: string | undefined): void => {
    for (const item of level) {
      const known = entries.get(item.id);
      const parent = nestedIn ?? known?.parent ?? (item.parent?.id === item.id ? undefined : item.parent?.id);
      entries.set(item.id, { item: known?.item ?? item, hidden: isHidden(item) || known?.hidden === true, parent });
      walk(item.agenda_items, item.id);
    }
  };
  walk(items, undefined);
  const hidden = withNested(
    [...entries].filter(([, entry]) => entry.hidden).map(([id]) => id),
    [...entries].map(([id, { parent }]) => [id, parent]),
  );
  const all = [...entries.values()];
  return {
    shown: all.filter(({ item }) => !hidden.has(item.id)),
    hidden: all.filter(({ item }) => hidden.has(item.id)).map(({ item }) => item),
  };
}
