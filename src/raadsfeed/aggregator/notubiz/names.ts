/** The names of attributes, bodies and registers of an organisation. */
import { isRecord } from '../../../lib/json/json-value.ts';
import { lineOfHtml } from '../supplier/html-text.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { ANY, createReader, ID, listOf, objectOf, STRING, TEXT, type ValueOf } from '../supplier/read-answer.ts';
import { SupplierError } from '../supplier/supplier-client.ts';
import { type Fetcher, fetchOne } from './api.ts';

export type Names = ReadonlyMap<string, string>;

const ATTRIBUTES = objectOf({}, { id: STRING });
const FOLDER = objectOf({}, { fields: objectOf({}, { field: ANY }) });
const ORGANISATION = objectOf({}, { '@attributes': ATTRIBUTES, settings: objectOf({}, { folder: FOLDER }) });
const NAMED = objectOf({ id: ID }, { title: TEXT, name: TEXT, custom_name: TEXT });

const readOrganisations = createReader(objectOf({ organisation: listOf(ORGANISATION) }));
const readOrganisation = createReader(ORGANISATION);
const readFields = createReader(objectOf({ field: listOf(objectOf({}, { '@attributes': ATTRIBUTES, label: TEXT })) }));

/**
 * Without these names nothing can be mapped correctly: then `undefined`, and an issue. An organisation that the supplier does not list is
 * fetched directly. Without labels of their own `labels` is `undefined`.
 */
export async function readReference(fetcher: Fetcher) {
  const { organisationId } = fetcher.request.source;
  const [labels, gremia] = await Promise.all([
    readLabels(fetcher, organisationId),
    readGremia(fetcher, organisationId),
  ]);
  return labels === 'failed' || gremia === 'failed' ? undefined : { labels, gremia };
}

async function readLabels(fetcher: Fetcher, id: string): Promise<Names | undefined | 'failed'> {
  const { issues } = fetcher;
  const list = await fetchOne(fetcher, '/organisations', 'organisations');
  if (list.kind === 'failed') return 'failed';
  const all = list.kind === 'found' ? readOrganisations(list.value, issues.at('/organisations'))?.organisation : [];
  const listed = labelsOf(all?.find((organisation) => organisation['@attributes']?.id === id));
  if (listed !== undefined) return listed;
  const path = `/organisations/${id}`;
  const direct = await fetchOne(fetcher, path, 'organisation');
  if (direct.kind === 'failed') return 'failed';
  const labels = direct.kind === 'found' ? labelsOf(readOrganisation(direct.value, issues.at(path))) : undefined;
  if (labels === undefined) issues.add('labels-missing', path, 'no labels of attributes; the usual numbers are taken');
  return labels;
}

/** A single field is not in a list. */
function labelsOf(organisation: ValueOf<typeof ORGANISATION> | undefined): Names | undefined {
  const field = organisation?.settings?.folder?.fields?.field;
  const fields = readFields({ field: isRecord(field) ? [field] : field }, () => undefined)?.field ?? [];
  const labels = new Map<string, string>();
  for (const { '@attributes': attributes, label } of fields) {
    const name = lineOfHtml(label);
    if (attributes?.id !== undefined && name !== undefined) labels.set(attributes.id, name);
  }
  return labels.size === 0 ? undefined : labels;
}

async function readGremia({ client, issues, request }: Fetcher, id: string): Promise<Names | 'failed'> {
  const path = `/organisations/${id}/gremia`;
  try {
    return readNames(await client.get(path, {}, request.signal), 'gremia', issues.at(path));
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    const isAbsent = error.kind === 'status' && !error.passing;
    if (isAbsent) issues.add('unexpected-answer', path, error.message);
    else issues.failed(path, error);
    return isAbsent ? new Map() : 'failed';
  }
}

const NAMES = listOf(NAMED);
const readGremiaList = createReader(objectOf({ gremia: NAMES }));
const readModules = createReader(objectOf({ modules: NAMES }));

/** Names of bodies or registers; the organisation's own name for a register takes precedence. */
export function readNames(answer: unknown, list: 'gremia' | 'modules', issue: IssueSink): Names {
  const wrapped = Array.isArray(answer) ? { [list]: answer } : answer;
  const found = list === 'gremia' ? readGremiaList(wrapped, issue)?.gremia : readModules(wrapped, issue)?.modules;
  return new Map(
    (found ?? []).map(({ id, title, custom_name, name }) => [id, lineOfHtml(title ?? custom_name ?? name) ?? '']),
  );
}
