import { isRecord } from '../../../../lib/json/json-value.ts';
import type { IssueSink } from '../issue-log.ts';
import { NotubizError } from '../notubiz-error.ts';
import { identifier, type JsonObject, requiredObjects, text } from '../parse/values.ts';
import type { Fetcher } from './session.ts';

/** What an organisation calls its things. */
export interface ReferenceData {
  readonly labels: Names | undefined;
  readonly gremia: Names;
}

/**
 * Reads the labels and the names of the bodies. Without them nothing can be mapped correctly: `undefined`, and an issue
 * says so. An organisation that the supplier does not list is fetched directly; an unknown one has no labels.
 */
export async function readReference(fetcher: Fetcher, organisationId: string): Promise<ReferenceData | undefined> {
  const [labels, gremia] = await Promise.all([
    readLabelsOf(fetcher, organisationId),
    readGremiaOf(fetcher, organisationId),
  ]);
  return labels === 'failed' || gremia === 'failed' ? undefined : { labels: labels ?? undefined, gremia };
}

async function readLabelsOf(fetcher: Fetcher, id: string): Promise<Names | null | 'failed'> {
  const list = await get(fetcher, '/organisations');
  const listed =
    list.kind === 'answered' ? findOrganisation(list.answer, id, fetcher.issues.at('/organisations')) : undefined;
  const labels = listed === undefined ? undefined : readLabels(listed);
  if (labels !== undefined) return labels;
  const path = `/organisations/${id}`;
  const direct = await get(fetcher, path);
  const organisation =
    direct.kind === 'answered' && isRecord(direct.answer) && isRecord(direct.answer.organisation)
      ? direct.answer.organisation
      : undefined;
  const found = organisation === undefined ? undefined : readLabels(organisation);
  if (found !== undefined) {
    if (list.kind === 'failed')
      fetcher.issues.add('labels-missing', '/organisations', `${list.reason}; asked for directly`);
    return found;
  }
  const failures = [list, direct].filter((outcome) => outcome.kind === 'failed');
  for (const { reason } of failures) fetcher.issues.add('call-failed', path, `no labels: ${reason}`);
  if (failures.length > 0) return 'failed';
  fetcher.issues.add('labels-missing', path, 'no labels of attributes; the usual numbers are taken');
  return null;
}

async function readGremiaOf(fetcher: Fetcher, id: string): Promise<Names | 'failed'> {
  const path = `/organisations/${id}/gremia`;
  const outcome = await get(fetcher, path);
  if (outcome.kind === 'failed') {
    fetcher.issues.add('call-failed', path, outcome.reason);
    return 'failed';
  }
  if (outcome.kind === 'answered') return readGremia(outcome.answer, fetcher.issues.at(path));
  fetcher.issues.add('unexpected-answer', path, 'the supplier has no bodies of this organisation');
  return new Map();
}

type GetOutcome = { kind: 'answered'; answer: unknown } | { kind: 'missing' } | { kind: 'failed'; reason: string };

async function get({ client, request }: Fetcher, path: string): Promise<GetOutcome> {
  try {
    return { kind: 'answered', answer: await client.get(path, {}, request.signal) };
  } catch (error) {
    if (!(error instanceof NotubizError)) throw error;
    if (error.kind === 'status' && !error.passing) return { kind: 'missing' };
    return { kind: 'failed', reason: error.message };
  }
}

/** Names by id: of the attributes of a meeting, of the bodies, of the registers. */
export type Names = ReadonlyMap<string, string>;

/** The organisation in the answer of `/organisations`, or `undefined`: some are missing there. */
function findOrganisation(answer: unknown, id: string, issue: IssueSink): JsonObject | undefined {
  const holder = isRecord(answer) ? answer.organisations : undefined;
  const list = isRecord(holder) ? requiredObjects(holder, 'organisation', issue) : undefined;
  if (!isRecord(holder)) issue('unexpected-answer', 'has no organisations');
  return list?.find((organisation) => identifier(attributesOf(organisation).id) === id);
}

/** Labels of the meeting's attributes; `undefined` when the organisation does not give them. */
function readLabels(organisation: JsonObject): Names | undefined {
  const fields = ['settings', 'folder', 'fields', 'field'].reduce<unknown>(
    (holder, name) => (isRecord(holder) ? holder[name] : undefined),
    organisation,
  );
  const labels = new Map<string, string>();
  for (const field of (Array.isArray(fields) ? fields : [fields]).filter(isRecord)) {
    const id = identifier(attributesOf(field).id);
    const label = text(field.label);
    if (id !== undefined && label !== undefined) labels.set(id, label);
  }
  return labels.size === 0 ? undefined : labels;
}

/** Names of the bodies, of `/organisations/{id}/gremia`. */
function readGremia(answer: unknown, issue: IssueSink): Names {
  return readNames(answer, 'gremia', ['title', 'name'], issue);
}

/** Names of the registers, of `/organisations/{id}/modules`: the organisation's own name takes precedence. */
export function readModules(answer: unknown, issue: IssueSink): Names {
  return readNames(answer, 'modules', ['custom_name', 'name'], issue);
}

function readNames(answer: unknown, list: string, members: readonly string[], issue: IssueSink): Names {
  const names = new Map<string, string>();
  if (!isRecord(answer)) issue('unexpected-answer', 'not an object');
  for (const raw of isRecord(answer) ? (requiredObjects(answer, list, issue) ?? []) : []) {
    const id = identifier(raw.id);
    if (id === undefined) issue('unexpected-answer', `one of ${list} has no id`);
    else names.set(id, members.map((member) => text(raw[member])).find((name) => name !== undefined) ?? '');
  }
  return names;
}

function attributesOf(holder: JsonObject): JsonObject {
  return isRecord(holder['@attributes']) ? holder['@attributes'] : {};
}
