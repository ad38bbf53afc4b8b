import { isRecord } from '../../../kernel/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { identifier, type JsonObject, text } from '../values/scalars.ts';
import { type NotubizDocument, readAttachments, readDocument } from './document.ts';
import { objects } from './lists.ts';
import { isHidden } from './visibility.ts';

export interface RegisterItem {
  readonly id: string;
  readonly hidden: boolean;
  readonly lastModified: string | undefined;
  /** Attribute 1. */
  readonly title: string | undefined;
  /** Its address, as the supplier wrote it. */
  readonly self: string | undefined;
  /** Attribute 15, as the supplier gave it. */
  readonly date: unknown;
  readonly documents: readonly NotubizDocument[];
  /** Ids of the agenda items that it refers to. */
  readonly agendaItems: readonly string[];
}

const TITLE = '1';
const DATE = '15';

/** Reads a register entry, the `item` of a call or one of `items[]`. */
export function readRegisterItem(raw: JsonObject, issue: IssueSink): RegisterItem | undefined {
  const id = identifier(raw.id);
  if (id === undefined) {
    issue('unexpected-answer', 'a register item has no id');
    return undefined;
  }
  const about: IssueSink = (what, detail) => issue(what, `register item ${id}: ${detail}`);
  const attributes = objects(raw, 'attributes', about).map((attribute) => ({
    id: identifier(attribute.id),
    datatype: attribute.datatype,
    values: objects(attribute, 'values', about),
  }));
  const values = attributes.flatMap((attribute) => attribute.values);
  return {
    id,
    hidden: isHidden(raw, true, about),
    lastModified: text(raw.last_modified),
    title: text(attributes.find((attribute) => attribute.id === TITLE)?.values[0]?.content),
    self: text(raw.self),
    date: attributes.find((attribute) => attribute.id === DATE)?.values[0]?.content,
    documents: [
      ...attributes
        .filter(({ datatype }) => datatype === 'document')
        .flatMap((attribute) => attribute.values.flatMap((value) => documentOf(value, about))),
      ...readAttachments(raw, about),
    ],
    agendaItems: values.map((value) => agendaItemOf(value, about)).filter((item) => item !== undefined),
  };
}

/** An attribute of datatype document that was not filled in has a value without a document. */
function documentOf(value: JsonObject, issue: IssueSink): NotubizDocument[] {
  if (value.document === undefined || value.document === null) {
    if (text(value.content) !== undefined) issue('unexpected-answer', 'a value of datatype document has no document');
    return [];
  }
  const document = isRecord(value.document) ? readDocument(value.document, issue) : undefined;
  if (!isRecord(value.document)) issue('unexpected-answer', 'a document is not an object');
  return document === undefined ? [] : [document];
}

function agendaItemOf(value: JsonObject, issue: IssueSink): string | undefined {
  if (!isRecord(value.meta_data) || value.meta_data.reference_model !== 'agenda_item') return undefined;
  const id = identifier(value.content);
  if (id === undefined) issue('unusable-value', 'refers to an agenda item without an id');
  return id;
}
