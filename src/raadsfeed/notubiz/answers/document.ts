import { isRecord } from '../../../kernel/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { count, identifier, type JsonObject, text } from '../values/scalars.ts';
import { objects } from './lists.ts';
import { isHidden } from './visibility.ts';

export interface NotubizFile {
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

/** Reads a document as it hangs on a meeting, an agenda item or a register item. */
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
export function readAttachments(holder: JsonObject, issue: IssueSink): readonly NotubizDocument[] {
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
