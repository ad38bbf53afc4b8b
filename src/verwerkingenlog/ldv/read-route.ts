/** `POST /data-processing-operations`: reading the log in the form of LDV, with the scopes and confidentiality of area B. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/ldv-lezen.ts';
import type { Db } from '../../database/transaction.ts';
import { eventLoopBudget } from '../../lib/scheduling.ts';
import { callerOf, insufficientScope } from '../../plugins/auth.ts';
import type { Contract } from '../../plugins/contract.ts';
import { CATEGORIEEN, type Categorie, categorieOf } from '../domain/access.ts';
import { isSamePerson, personKey } from '../domain/identity-keys.ts';
import type { GenummerdObject, Versie, VerwerktObject } from '../domain/verwerkingsactie.ts';
import { hashesOf } from '../routes/person-page.ts';
import { type RouteNeeds, readerOf, refuse } from '../routes/request-reply.ts';
import { findLocations, type Location } from '../store/find.ts';
import { type PartOfVersie, readCurrentParts, reveal } from '../store/versions.ts';
import { activityIdIn, activityOf, spanIdOf, spansOf, uuidOf } from './mapping.ts';
import { answerOf, type LineQuery, readQuery, type Vraag } from './query.ts';
import type { Span } from './span.ts';
import { findByActivity, findByTrace } from './store/find-lines.ts';

/** Lines of one question. */
const MAX_LINES = 1000;
/** Actions of a person that are read at a time, and how often, for a question that also has other selectors. */
const PAGE = 500;
const MAX_PAGES = 20;
const HANDELING = 'Dataverwerkingen opvragen (LDV)';

/** What a caller sees: of the categories that are `limited`, not where a line came from. */
interface View {
  readonly full: readonly Categorie[];
  readonly limited: readonly Categorie[];
}

type Line = ReturnType<typeof answerOf>;

interface Found {
  readonly lines: readonly Line[];
  readonly truncated: boolean;
  readonly persons: readonly VerwerktObject[];
  readonly confidential: boolean;
}

type ReadNeeds = Omit<RouteNeeds, 'contract'>;

export function readLines(app: FastifyInstance, contract: Contract<operations>, needs: ReadNeeds): void {
  const { settings, publicBaseUrl } = app;
  const { access } = needs;
  const metadata = () => ({
    logbookId: publicBaseUrl(),
    organizationName: settings.server.organisation ?? 'deze organisatie',
  });

  const answerAll = async (
    vragen: readonly Vraag[],
    at: (i: number) => string,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    // All of them are judged before any is read.
    const read = vragen.map((vraag, i) => readQuery(vraag, at(i)));
    refuse(read.flatMap(({ faults }) => faults));
    const questions = read.map(({ query }) => ({ query, view: viewOf(request, query) }));
    const reader = readerOf(request, reply, needs, HANDELING);
    const answers: Found[] = [];
    for (const { query, view } of questions) {
      // Each question leaves an entry of its own: about its own persons.
      const answer = await needs.loggedRead(reader, async (db) => {
        const result = await findLines(db, query, view, needs);
        return { result, persons: result.persons, confidential: result.confidential };
      });
      answers.push(answer);
    }
    return answers;
  };

  contract.serve(app, 'postDataProcessingOperations', { authenticate: access }, async (request, reply) => {
    const [found] = await answerAll([request.body], () => '', request, reply);
    const { lines = [], truncated = false } = found ?? {};
    return { metadata: metadata(), dataProcessingOperations: lines, ...(truncated ? { truncated } : {}) };
  });
  contract.serve(app, 'postDataProcessingOperationsBatch', { authenticate: access }, async (request, reply) => {
    const answers = await answerAll(request.body.requests, (i) => `requests.${i}.`, request, reply);
    const results = answers.map(({ lines, truncated }) => ({ items: lines, ...(truncated ? { truncated } : {}) }));
    return { metadata: metadata(), results };
  });
}

/** @throws {Problem} 400, 403 */
function viewOf(request: FastifyRequest, { persons, namesKind }: LineQuery): View {
  const { scopes } = callerOf(request);
  if (scopes.has('read:confidential')) return { full: CATEGORIEEN, limited: [] };
  if (persons.length === 0) {
    throw insufficientScope(['read:confidential'], 'Zonder dataSubjectId is read:confidential nodig.');
  }
  if (scopes.has('read:normal')) return { full: ['normaal'], limited: ['opgeheven'] };
  if (!namesKind) refuse([{ name: 'dataSubjectIdType', code: 'required', reason: 'ontbreekt' }]);
  return { full: [], limited: ['normaal', 'opgeheven'] };
}

async function findLines(db: Db, query: LineQuery, view: View, needs: ReadNeeds): Promise<Found> {
  const lines: Line[] = [];
  const persons = new Map<string, VerwerktObject>();
  let confidential = false;
  let truncated = false;
  const hashes = query.persons.length === 0 ? undefined : query.persons.flatMap((one) => hashesOf(one, needs.log.keys));
  const seen = [...view.full, ...view.limited];

  for await (const { acties, more } of candidates(db, query, hashes, seen)) {
    for (const part of await readCurrentParts(db, acties, { hashes, most: MAX_LINES })) {
      if (eventLoopBudget.exhausted()) await eventLoopBudget.yield();
      const categorie = categorieOf(part.stored);
      if (!seen.includes(categorie)) continue;
      const { spans, objects } = await linesOfPart(part, query, needs);
      if (spans.length === 0) continue;
      if (categorie === 'vertrouwelijk') confidential = true;
      for (const one of objects) persons.set(personKey(one), one);
      truncated ||= hashes === undefined && part.objects > objects.length;
      for (const span of spans) lines.push(answerOf(span, view.limited.includes(categorie)));
      if (lines.length > MAX_LINES) break;
    }
    truncated ||= more;
    if (lines.length > MAX_LINES) break;
  }
  // A question about a person without any line is logged with that person all the same.
  const [asked] = query.persons;
  if (persons.size === 0 && asked !== undefined)
    persons.set('', { ...asked, betrokkenheid: null, soortenGegevens: null });
  return {
    lines: lines.slice(0, MAX_LINES),
    truncated: truncated || lines.length > MAX_LINES,
    persons: [...persons.values()],
    confidential,
  };
}

/** Actions that may have lines that were asked for, newest first; `more`: there are others that were not read. */
async function* candidates(
  db: Db,
  { traceId, activity, begin, eind }: LineQuery,
  hashes: readonly string[] | undefined,
  categorieen: readonly Categorie[],
): AsyncGenerator<{ readonly acties: readonly string[]; readonly more: boolean }> {
  if (hashes === undefined) {
    const named = { id: activityIdIn(activity ?? ''), url: activity ?? '', begin, eind };
    const acties =
      traceId === undefined
        ? await findByActivity(db, named, MAX_LINES + 1)
        : await findByTrace(db, traceId, MAX_LINES + 1);
    yield { acties: acties.slice(0, MAX_LINES), more: acties.length > MAX_LINES };
    return;
  }
  let last: Location | undefined;
  for (let page = 1; ; page += 1) {
    const cursor = last === undefined ? undefined : { direction: 'after' as const, key: [last.tijdstip, last.actieId] };
    const found = await findLocations(db, { hashes, categorieen, per: 'actie', begin, eind }, cursor, PAGE);
    last = found.at(-1);
    const isLast = found.length < PAGE;
    // By several kinds or keys an action may be found more than once.
    yield { acties: [...new Set(found.map(({ actieId }) => actieId))], more: !isLast && page === MAX_PAGES };
    if (isLast || page === MAX_PAGES) return;
  }
}

/** The lines of an action that were asked for. */
async function linesOfPart({ stored, objects }: PartOfVersie, query: LineQuery, { log, base }: ReadNeeds) {
  const { persons, traceId, activity, begin, eind } = query;
  const versie = await reveal(stored, log.keys);
  const isOfPerson = persons.length > 0;
  const objecten = isOfPerson
    ? versie.objecten.filter((object) => persons.some((one) => isSamePerson(one, object)))
    : versie.objecten;
  const starts = Date.parse(versie.tijdstip);
  const isWithin =
    (begin === undefined || starts >= Date.parse(begin)) && (eind === undefined || starts < Date.parse(eind));
  if (isOfPerson && objecten.length === 0) return { spans: [], objects: [] };
  const made = isWithin ? spansOf({ ...versie, objecten }, base()) : [];
  // Of several persons each has a line below that of the action, which says nothing of them.
  const isBelow = objects > 1 && objecten.length === 1;
  const own = isOfPerson && objecten.length > 1 ? made.slice(1) : made;
  const all = isBelow ? made.map((span): Span => ({ ...span, ...idsBelow(versie, objecten, span) })) : own;
  const spans = all.filter(
    (span) =>
      (traceId === undefined || uuidOf(span.traceId) === traceId) &&
      (activity === undefined || isActivity(activity, activityOf(span), versie.verwerkingsactiviteitId)),
  );
  return { spans, objects: objecten };
}

/** The ids that the line of one person has, where the action is about several. */
function idsBelow({ actieId, ldv }: Versie, [only]: readonly GenummerdObject[], { spanId }: Span) {
  return { spanId: spanIdOf(actieId, only?.nummer), parentSpanId: ldv === null ? spanIdOf(actieId) : spanId };
}

/** An activity is named by its URI, or by the UUID that the register has. */
function isActivity(asked: string, uri: string | undefined, id: string | null): boolean {
  return asked === uri || (id !== null && activityIdIn(asked) === id);
}
