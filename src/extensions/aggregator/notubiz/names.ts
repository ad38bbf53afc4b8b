/** What an organisation calls its things: the attributes of a meeting, its bodies, its registers. */
import { isRecord } from '../../../lib/json/json-value.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import { createReader, IDENTITY, listOf, objectOf, TEXT } from '../supplier/read-answer.ts';
import { SupplierError } from '../supplier/supplier-client.ts';
import type { Fetcher } from './api.ts';

/** Names by id. */
export type Names = ReadonlyMap<string, string>;

export interface ReferenceData {
  /** Of the attributes of a meeting; `undefined` when the organisation gives none. */
  readonly labels: Names | undefined;
  readonly gremia: Names;
}

interface Organisation {
  readonly '@attributes'?: { readonly id?: string };
  readonly settings?: { readonly folder?: { readonly fields?: { readonly field?: unknown } } };
}

interface Named {
  readonly id: string;
  readonly title?: string;
  readonly name?: string;
  readonly custom_name?: string;
}

const ID_ATTRIBUTE = objectOf({}, { id: { type: 'string' } });
const FIELDS = objectOf({}, { fields: objectOf({}, {}) });
const ORGANISATION = objectOf({}, { '@attributes': ID_ATTRIBUTE, settings: objectOf({}, { folder: FIELDS }) });
const NAMED = objectOf({ id: IDENTITY }, { title: TEXT, name: TEXT, custom_name: TEXT });

const readOrganisations = createReader<{ readonly organisations: { readonly organisation: readonly Organisation[] } }>(
  objectOf({
    organisations: {
      ...objectOf({ organisation: { ...listOf(ORGANISATION), absent: { value: [] } } }),
      absent: { value: { organisation: [] } },
      wrong: { value: { organisation: [] } },
    },
  }),
);
const readOrganisation = createReader<{ readonly organisation?: Organisation }>(
  objectOf({}, { organisation: ORGANISATION }),
);
const readFields = createReader<{
  readonly field: readonly { readonly '@attributes'?: { readonly id?: string }; readonly label?: string }[];
}>(objectOf({ field: listOf(objectOf({}, { '@attributes': ID_ATTRIBUTE, label: TEXT })) }));

/**
 * Reads the labels and the names of the bodies. Without them nothing can be mapped correctly: `undefined`, and an issue
 * says so. An organisation that the supplier does not list is fetched directly; an unknown one has no labels.
 */
export async function readReference(fetcher: Fetcher, organisationId: string): Promise<ReferenceData | undefined> {
  const [labels, gremia] = await Promise.all([
    readLabels(fetcher, organisationId),
    readGremia(fetcher, organisationId),
  ]);
  return labels === 'failed' || gremia === 'failed' ? undefined : { labels, gremia };
}

async function readLabels(fetcher: Fetcher, id: string): Promise<Names | undefined | 'failed'> {
  const { issues } = fetcher;
  const list = await get(fetcher, '/organisations');
  const all = list.answer && readOrganisations(list.answer, issues.at('/organisations'))?.organisations.organisation;
  const listed = labelsOf(all?.find((organisation) => organisation['@attributes']?.id === id));
  if (listed !== undefined) return listed;
  const path = `/organisations/${id}`;
  const direct = await get(fetcher, path);
  const labels = labelsOf(direct.answer && readOrganisation(direct.answer, issues.at(path))?.organisation);
  if (labels !== undefined) {
    if (list.failure !== undefined)
      issues.add('labels-missing', '/organisations', `${list.failure}; asked for directly`);
    return labels;
  }
  const failures = [list.failure, direct.failure].filter((failure) => failure !== undefined);
  for (const failure of failures) issues.add('call-failed', path, `no labels: ${failure}`);
  if (failures.length > 0) return 'failed';
  issues.add('labels-missing', path, 'no labels of attributes; the usual numbers are taken');
  return undefined;
}

/** A single field is not in a list. */
function labelsOf(organisation: Organisation | undefined): Names | undefined {
  const field = organisation?.settings?.folder?.fields?.field;
  const fields = readFields({ field: isRecord(field) ? [field] : field }, () => undefined)?.field ?? [];
  const labels = new Map<string, string>();
  for (const { '@attributes': attributes, label } of fields) {
    if (attributes?.id !== undefined && label !== undefined) labels.set(attributes.id, label);
  }
  return labels.size === 0 ? undefined : labels;
}

async function readGremia(fetcher: Fetcher, id: string): Promise<Names | 'failed'> {
  const path = `/organisations/${id}/gremia`;
  const { answer, failure } = await get(fetcher, path);
  if (failure !== undefined) {
    fetcher.issues.add('call-failed', path, failure);
    return 'failed';
  }
  if (answer !== undefined) return readNames(answer, 'gremia', fetcher.issues.at(path));
  fetcher.issues.add('unexpected-answer', path, 'the supplier has no bodies of this organisation');
  return new Map();
}

/** `answer` is absent when the supplier does not have it. */
async function get({ client, request }: Fetcher, path: string): Promise<{ answer?: object; failure?: string }> {
  try {
    const answer = await client.get(path, {}, request.signal);
    return { answer: typeof answer === 'object' && answer !== null ? answer : {} };
  } catch (error) {
    if (!(error instanceof SupplierError)) throw error;
    return error.kind === 'status' && !error.passing ? {} : { failure: error.message };
  }
}

const NAMES = {
  gremia: createReader<{ readonly gremia: readonly Named[] }>(
    objectOf({ gremia: { ...listOf(NAMED), absent: { value: [] } } }),
  ),
  modules: createReader<{ readonly modules: readonly Named[] }>(
    objectOf({ modules: { ...listOf(NAMED), absent: { value: [] } } }),
  ),
};

/** The names in a list of bodies or registers; of a register the organisation's own name takes precedence. */
export function readNames(answer: unknown, list: 'gremia' | 'modules', issue: IssueSink): Names {
  const found = list === 'gremia' ? NAMES.gremia(answer, issue)?.gremia : NAMES.modules(answer, issue)?.modules;
  return new Map((found ?? []).map(({ id, title, custom_name, name }) => [id, title ?? custom_name ?? name ?? '']));
}
