import type { DocumentRead } from '../../supplier/source-adapter.ts';
import type { IssueSink } from '../issue-log.ts';
import { modulePath, type NotubizDocument, type RegisterItem } from '../parse/document.ts';
import { momentOf, timeOf } from '../parse/moment.ts';
import { fixUrl } from '../parse/values.ts';
import {
  categoryOfType,
  documentId,
  documentPage,
  type MappingContext,
  mapOrganisatie,
  registerItemId,
  registerItemPage,
  withoutAbsent,
} from './context.ts';

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
  const { id, version, file } = document;
  const url = usableUrl(document.url, about);
  const bestandsurl = version === undefined ? url : `${context.base}/document/${id}/${version}`;
  const webpage = documentPage(context.source, id, version) ?? url ?? bestandsurl;
  const modified = momentOf(document.lastModified, 'last_modified', about);
  // Never `publication_date`: that is the day of the reading, and every record would change each day.
  const submitted = momentOf(document.date, 'date', about);
  const titel = document.title ?? file?.name;
  if (titel === undefined) about('unusable-value', 'has neither a title nor a file name');
  const category = categoryOfType(context.categories, document.type);
  const data = {
    bronidentificatie: documentId(id),
    dossiertype: 'informatieobject',
    organisatie: mapOrganisatie(context.source),
    webpaginalink: webpage ?? `${context.base}/document/${id}`,
    titel: titel ?? `Document ${id}`,
    ...withoutAbsent({
      gewijzigdop: timeOf(document.lastModified, 'last_modified', () => {}),
      bestandsurl,
      formaat: mediaType(file?.mimeType, about),
      omvang: file?.size,
      informatieobjecttype: document.type,
    }),
  };
  return {
    bronidentificatie: data.bronidentificatie,
    version: version ?? 0,
    data,
    date: submitted?.day,
    modifiedDay: modified?.day,
    ...(category === undefined ? {} : { wooinformatiecategorie: category }),
  };
}

function usableUrl(url: string | undefined, issue: IssueSink): string | undefined {
  if (url === undefined) return undefined;
  const fixed = fixUrl(url);
  if (fixed === undefined) issue('unusable-value', `url cannot be fixed: ${url.slice(0, 100)}`);
  return fixed;
}

function mediaType(value: string | undefined, issue: IssueSink): string | undefined {
  if (value === undefined || MEDIA_TYPE.test(value)) return value;
  issue('unusable-value', `mime_type is not a media type: ${value.slice(0, 100)}`);
  return undefined;
}

/** Maps a register item without any file: many motions and questions have none. */
export function mapRegisterItem(
  item: RegisterItem,
  register: string | undefined,
  context: MappingContext,
  issue: IssueSink,
): DocumentRead {
  const about: IssueSink = (what, detail) => issue(what, `register item ${item.id}: ${detail}`);
  const modified = momentOf(item.lastModified, 'last_modified', about);
  const self = item.self === undefined ? undefined : usableUrl(item.self, about);
  return {
    bronidentificatie: registerItemId(item.id),
    version: 0,
    date: momentOf(item.date, 'attribute 15', about)?.day,
    modifiedDay: modified?.day,
    data: {
      bronidentificatie: registerItemId(item.id),
      dossiertype: 'informatieobject',
      organisatie: mapOrganisatie(context.source),
      webpaginalink: registerItemPage(context.source, item.id) ?? self ?? `${context.base}${modulePath('0', item.id)}`,
      titel: item.title ?? 'Registerstuk',
      ...withoutAbsent({
        gewijzigdop: timeOf(item.lastModified, 'last_modified', () => {}),
        informatieobjecttype: register === '' ? undefined : register,
      }),
    },
  };
}
