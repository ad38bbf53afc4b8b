import { isRecord } from '../../../../lib/json/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { count, identifier, isHidden, type JsonObject, objects, text } from './values.ts';

interface NotubizFile {
  readonly name: string | undefined;
  readonly mimeType: string | undefined;
  readonly size: number | undefined;
}

export interface NotubizDocument {
  readonly id: string;
  readonly hidden: boolean;
  readonly title: string | undefined;
  readonly url: string | undefined;
  /** Number of the current version; `undefined` when nothing says which that is. */
  readonly version: number | undefined;
  /** The file of the current version. */
  readonly file: NotubizFile | undefined;
  readonly type: string | undefined;
  readonly date: unknown;
  readonly lastModified: unknown;
}

/** Reads a document of a meeting, an agenda item or a register item. */
export function readDocument(raw: JsonObject, issue: IssueSink): NotubizDocument | undefined {
  const address = `${text(raw.self) ?? ''} ${text(raw.url) ?? ''}`;
  const id = identifier(raw.id) ?? /\/document\/([1-9]\d{0,17})(?=[/ ]|$)/.exec(address)?.[1];
  if (id === undefined) {
    issue('unexpected-answer', 'a document has no id');
    return undefined;
  }
  const about: IssueSink = (what, detail) => issue(what, `document ${id}: ${detail}`);
  const versions = objects(raw, 'versions', about);
  const version = currentVersion(raw, id, versions, about);
  const current = versions.find((candidate) => version !== undefined && count(candidate.id) === version);
  if (version !== undefined && current === undefined) about('unusable-value', `version ${version} is not in versions`);
  return {
    id,
    hidden: isHidden(raw, false, about),
    title: text(raw.title),
    url: text(raw.url),
    version,
    file: current === undefined ? undefined : readFile(current, about),
    type: objects(raw, 'types', about)
      .map(({ value }) => text(value))
      .find((value) => value !== undefined),
    date: raw.date,
    lastModified: raw.last_modified,
  };
}

/** Documents in a list; what is not one is reported. */
export function readDocuments(holder: JsonObject, name: string, issue: IssueSink): readonly NotubizDocument[] {
  return objects(holder, name, issue)
    .map((raw) => readDocument(raw, issue))
    .filter((document) => document !== undefined);
}

/** Documents of `attachments.document[]`, which is left out or empty where there are none. */
function readAttachments(holder: JsonObject, issue: IssueSink): readonly NotubizDocument[] {
  const { attachments } = holder;
  if (attachments === undefined || attachments === null) return [];
  if (Array.isArray(attachments) && attachments.length === 0) return [];
  if (!isRecord(attachments)) {
    issue('unexpected-answer', 'attachments is not an object');
    return [];
  }
  return Object.keys(attachments).length === 0 ? [] : readDocuments(attachments, 'document', issue);
}

/** `version` says it; where it does not, the address does, else the highest there is. */
function currentVersion(
  raw: JsonObject,
  id: string,
  versions: readonly JsonObject[],
  issue: IssueSink,
): number | undefined {
  const said = count(raw.version);
  if (said !== undefined && said > 0) return said;
  issue('unusable-value', 'does not say which version is current');
  const inUrl = new RegExp(`/document/${id}/(\\d{1,9})(?:[/?#]|$)`).exec(text(raw.url) ?? '')?.[1];
  const numbers = versions.map((version) => count(version.id) ?? 0);
  const found = inUrl === undefined ? Math.max(0, ...numbers) : Number(inUrl);
  return found > 0 ? found : undefined;
}

function readFile(raw: JsonObject, issue: IssueSink): NotubizFile {
  const size = count(raw.file_size);
  if (size === undefined && raw.file_size !== undefined && raw.file_size !== null && raw.file_size !== '') {
    issue('unusable-value', 'file_size is not a number');
  }
  return { name: text(raw.file_name), mimeType: text(raw.mime_type), size };
}

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

export interface ModuleItemReference {
  readonly id: string;
  /** Path of the item from the base of the API. */
  readonly path: string;
}

/** Reads `module_items[]`: the register entries that something refers to. */
export function readModuleItemReferences(holder: JsonObject, issue: IssueSink): readonly ModuleItemReference[] {
  return objects(holder, 'module_items', issue)
    .map((raw) => readModuleItemReference(raw, issue))
    .filter((reference) => reference !== undefined);
}

/**
 * One reference. Of its address only the path counts, and only one of the known form: the call goes to the configured base.
 */
export function readModuleItemReference(raw: JsonObject, issue: IssueSink): ModuleItemReference | undefined {
  const id = identifier(raw.id);
  if (id === undefined) {
    issue('unexpected-answer', 'a register item has no id');
    return undefined;
  }
  const path = /^(?:https?:\/\/)?[^/\s]*(\/modules\/\d{1,9}\/items\/[1-9]\d{0,17})\/?$/.exec(text(raw.self) ?? '')?.[1];
  if (path === undefined) issue('unusable-value', `register item ${id} has no address of the known form`);
  return { id, path: path ?? modulePath('0', id) };
}

/** The address of a register item; register 0 means any register. */
export function modulePath(module: string, id: string): string {
  return `/modules/${module}/items/${id}`;
}
