import { isRecord } from '../../../kernel/json-value.ts';
import { findOrganisation, type Names, readGremia, readLabels } from '../answers/organisation.ts';
import { NotubizError } from '../client/notubiz-error.ts';
import type { Asker } from './ask-one.ts';

/** What an organisation calls its things. */
export interface ReferenceData {
  readonly labels: Names | undefined;
  readonly gremia: Names;
}

/**
 * Reads the labels and the names of the bodies. Without an answer nothing can be mapped truthfully: `undefined`, and an issue
 * says so. An organisation that the supplier does not list is asked for directly; one that is nowhere has no labels.
 */
export async function readReference(asker: Asker, organisationId: string): Promise<ReferenceData | undefined> {
  const [labels, gremia] = await Promise.all([
    readLabelsOf(asker, organisationId),
    readGremiaOf(asker, organisationId),
  ]);
  return labels === 'failed' || gremia === 'failed' ? undefined : { labels: labels ?? undefined, gremia };
}

async function readLabelsOf(asker: Asker, id: string): Promise<Names | null | 'failed'> {
  const list = await get(asker, '/organisations');
  const listed =
    list.kind === 'answered' ? findOrganisation(list.answer, id, asker.issues.at('/organisations')) : undefined;
  const labels = listed === undefined ? undefined : readLabels(listed);
  if (labels !== undefined) return labels;
  const path = `/organisations/${id}`;
  const direct = await get(asker, path);
  const organisation =
    direct.kind === 'answered' && isRecord(direct.answer) && isRecord(direct.answer.organisation)
      ? direct.answer.organisation
      : undefined;
  const found = organisation === undefined ? undefined : readLabels(organisation);
  if (found !== undefined) {
    if (list.kind === 'failed')
      asker.issues.add('labels-missing', '/organisations', `${list.reason}; asked for directly`);
    return found;
  }
  const failures = [list, direct].filter((outcome) => outcome.kind === 'failed');
  for (const { reason } of failures) asker.issues.add('call-failed', path, `no labels: ${reason}`);
  if (failures.length > 0) return 'failed';
  asker.issues.add('labels-missing', path, 'no labels of attributes; the usual numbers are taken');
  return null;
}

async function readGremiaOf(asker: Asker, id: string): Promise<Names | 'failed'> {
  const path = `/organisations/${id}/gremia`;
  const outcome = await get(asker, path);
  if (outcome.kind === 'failed') {
    asker.issues.add('call-failed', path, outcome.reason);
    return 'failed';
  }
  if (outcome.kind === 'answered') return readGremia(outcome.answer, asker.issues.at(path));
  asker.issues.add('unexpected-answer', path, 'the supplier has no bodies of this organisation');
  return new Map();
}

type GetOutcome = { kind: 'answered'; answer: unknown } | { kind: 'missing' } | { kind: 'failed'; reason: string };

async function get({ client, request }: Asker, path: string): Promise<GetOutcome> {
  try {
    return { kind: 'answered', answer: await client.get(path, {}, request.signal) };
  } catch (error) {
    if (!(error instanceof NotubizError)) throw error;
    if (error.kind === 'status' && !error.passing) return { kind: 'missing' };
    return { kind: 'failed', reason: error.message };
  }
}
