/** The calls that write actions, after what all calls share: the twelve functions of the standard with their scopes, and conditional requests. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type InvalidParam, Problem } from '../../lib/problem.ts';
import { toUtc } from '../../lib/time.ts';
import { callerOf, insufficientScope } from '../../plugins/auth.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import { invalidRequest, refuse } from '../../plugins/faults.ts';
import { isKnown, traceOf } from '../../plugins/headers.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { type Changer, changeActie, unknownVerwerkingsactie } from '../changes.ts';
import { CATEGORIEEN, type Categorie, categorieOf } from '../domain/categories.ts';
import {
  type Actie,
  type ActieBody,
  type Auteur,
  actieAnswer,
  bodyFaults,
  ended,
  isWhole,
  readActie,
  readVertrouwelijkheid,
  replaced,
  silentLosses,
  termFaults,
} from '../domain/verwerkingsactie.ts';
import { verwerkingenlogProblems } from '../problems.ts';
import { lockOfVerwerking, patchActies, readActies } from '../store/changes.ts';

export function auteurOf(request: FastifyRequest): Auteur {
  return { door: callerOf(request).subject, verzoekId: request.id };
}

export function changerOf(request: FastifyRequest, reply: FastifyReply): Changer {
  return { client: callerOf(request).subject, signal: requestClosedSignal(reply) };
}

type Handeling = 'vastleggen' | 'opvragen' | 'wijzigen' | 'bewaartermijn' | 'vertrouwelijkheid' | 'verwijderen';

interface Functie {
  /** In the standard; absent: it has no such function. */
  readonly functie?: string;
  readonly handeling: Handeling;
  readonly beperkteSet?: boolean;
  /** Those that it may touch. A change touches the old and the new one. */
  readonly categorieen: readonly Categorie[];
  readonly scopes: readonly string[];
}

const NORMAAL: readonly Categorie[] = ['normaal'];
const VERTROUWELIJK: readonly Categorie[] = ['vertrouwelijk'];
const OPGEHEVEN: readonly Categorie[] = ['opgeheven'];
const HIDDEN: readonly Categorie[] = ['vertrouwelijk', 'opgeheven'];
const confidential = (verb: string): string[] => [`${verb}:confidential`];
/** The scope for normal actions; the one for confidential actions includes it. */
const normal = (verb: string): string[] => [`${verb}:normal`, ...confidential(verb)];
const ANY_READ = ['read:restricted', ...normal('read')];

/** The matrix. The first row of a `handeling` whose categories include all that a call touches decides. */
const FUNCTIES: readonly Functie[] = [
  { functie: 'F7446', handeling: 'vastleggen', categorieen: NORMAAL, scopes: normal('create') },
  { functie: 'F6624', handeling: 'vastleggen', categorieen: VERTROUWELIJK, scopes: confidential('create') },
  { functie: 'F4086', handeling: 'opvragen', beperkteSet: true, categorieen: NORMAAL, scopes: ANY_READ },
  { functie: 'F2525', handeling: 'opvragen', beperkteSet: true, categorieen: OPGEHEVEN, scopes: ANY_READ },
  { functie: 'F9787', handeling: 'opvragen', beperkteSet: false, categorieen: NORMAAL, scopes: normal('read') },
  { functie: 'F0143', handeling: 'opvragen', beperkteSet: false, categorieen: HIDDEN, scopes: confidential('read') },
  { handeling: 'opvragen', categorieen: CATEGORIEEN, scopes: confidential('read') },
  { functie: 'F8316', handeling: 'wijzigen', categorieen: NORMAAL, scopes: normal('update') },
  { functie: 'F3835', handeling: 'wijzigen', categorieen: CATEGORIEEN, scopes: confidential('update') },
  { functie: 'F4415', handeling: 'bewaartermijn', categorieen: NORMAAL, scopes: normal('update') },
  { functie: 'F4415', handeling: 'bewaartermijn', categorieen: CATEGORIEEN, scopes: confidential('update') },
  { functie: 'F2969', handeling: 'vertrouwelijkheid', categorieen: CATEGORIEEN, scopes: confidential('update') },
  { functie: 'F9906', handeling: 'verwijderen', categorieen: NORMAAL, scopes: normal('delete') },
  { functie: 'F2265', handeling: 'verwijderen', categorieen: CATEGORIEEN, scopes: confidential('delete') },
];

/** Any of these allows the call; undefined: no function covers it. */
function scopesFor(handeling: Handeling, touched: readonly Categorie[], beperkteSet?: boolean) {
  return FUNCTIES.find(
    (row) =>
      row.handeling === handeling &&
      (row.beperkteSet === undefined || row.beperkteSet === beperkteSet) &&
      touched.every((categorie) => row.categorieen.includes(categorie)),
  )?.scopes;
}

export function may(
  request: FastifyRequest,
  handeling: Handeling,
  touched: readonly Categorie[],
  beperkteSet?: boolean,
): boolean {
  const { scopes } = callerOf(request);
  return scopesFor(handeling, touched, beperkteSet)?.some((scope) => scopes.has(scope)) ?? false;
}

/** @throws {Problem} 403 */
export function allow(
  request: FastifyRequest,
  handeling: Handeling,
  touched: readonly Categorie[],
  beperkteSet?: boolean,
): void {
  if (may(request, handeling, touched, beperkteSet)) return;
  const needed = scopesFor(handeling, touched, beperkteSet);
  if (needed !== undefined) throw insufficientScope(needed, `Hiervoor is nodig: ${needed.join(' of ')}.`);
  throw new Problem(platformProblems.forbidden, {
    detail: 'Opgeheven kan alleen een bestaande verwerking worden (PATCH).',
  });
}

export function etag(versie: number): string {
  return `"${versie}"`;
}

/** With 304 to a client that has it already (RFC 9110 section 13.1.2, weak comparison). */
export function sendWithETag<Answer>(
  request: FastifyRequest,
  reply: FastifyReply,
  tag: string,
  answer: Answer,
): Answer | FastifyReply {
  reply.header('etag', tag);
  return isKnown(request, tag) ? reply.code(304).send() : answer;
}

/** `If-Match` (RFC 9110 section 13.1.1, strong comparison). @param current tag of the target; undefined: it does not exist @throws {Problem} 412 */
export function requireMatch(request: FastifyRequest, current: string | undefined): void {
  const condition = request.headers['if-match'];
  if (condition === undefined) return;
  const isMatch =
    current !== undefined && (condition.trim() === '*' || condition.split(',').some((tag) => tag.trim() === current));
  if (!isMatch) throw new Problem(verwerkingenlogProblems.nieuwereVersie);
}

/** The action of a body that has all required members. @throws {Problem} 400, by the clock of the database too */
async function parseAction(body: ActieBody, { settings, actieLog }: FastifyInstance): Promise<Actie> {
  const actie = readActie(body);
  const latest = await actieLog.latestMoment(Date.parse(actie.tijdstip));
  const faults = bodyFaults(body, settings.verwerkingenlog.checkBsn, actie.tijdstip, latest);
  if (faults.length > 0) throw invalidRequest(faults);
  return actie;
}

/** Those of a body that the contract has refused for others: all are answered together. */
function furtherFaults({ settings }: FastifyInstance) {
  return ({ body }: { readonly body: unknown }): InvalidParam[] => {
    const { tijdstip } = Object(body);
    const utc = typeof tijdstip === 'string' ? (toUtc(tijdstip) ?? '') : undefined;
    return bodyFaults(Object(body), settings.verwerkingenlog.checkBsn, utc);
  };
}

/** F7446 and F6624: storing an action. */
export function postVerwerkingsactie(app: FastifyInstance): void {
  const { contract, access, base } = app.verwerkingenlog;
  contract.serve(
    app,
    'postVerwerkingsactie',
    { authenticate: access, furtherFaults: furtherFaults(app) },
    async (request, reply) => {
      const actie = await parseAction(request.body, app);
      allow(request, 'vastleggen', [actie.vertrouwelijkheid]);
      const versie = await app.actieLog.append(actie, auteurOf(request), {
        idempotencyKey: request.headers['idempotency-key'],
        trace: () => traceOf(request),
      });
      const answer = actieAnswer(versie, base(), false);
      reply.code(201).headers({ location: answer.url, etag: etag(versie.versie) });
      return answer;
    },
  );
}

/** F8316 and F3835 (PUT), F9906 and F2265 (DELETE): a new version of one action. */
export function changeVerwerkingsactie(app: FastifyInstance): void {
  const { contract, access, base } = app.verwerkingenlog;
  const { clock, actieLog } = app;
  const writer = app.proof('verwerkingen');

  contract.serve(
    app,
    'putVerwerkingsactie',
    { authenticate: access, furtherFaults: furtherFaults(app) },
    async (request, reply) => {
      const { body } = request;
      const actie = isWhole(body) ? await parseAction(body, app) : undefined;
      // No scope allows this: only a whole processing can be lifted.
      if (actie?.vertrouwelijkheid === 'opgeheven') allow(request, 'vastleggen', ['opgeheven']);
      const target = { actieId: request.params.actieId.toLowerCase(), becomes: actie, ...changerOf(request, reply) };
      const versie = await changeActie(actieLog, writer, target, (current, lastNumber) => {
        allow(request, 'wijzigen', [categorieOf(current), ...(actie === undefined ? [] : [actie.vertrouwelijkheid])]);
        requireMatch(request, etag(current.versie));
        const lost = silentLosses(body, current);
        if (actie === undefined || lost.length > 0) throw invalidRequest(lost);
        return replaced(current, actie, lastNumber, clock.now(), auteurOf(request));
      });
      reply.header('etag', etag(versie.versie));
      return actieAnswer(versie, base(), false);
    },
  );

  contract.serve(app, 'deleteVerwerkingsactie', { authenticate: access }, async (request, reply) => {
    const target = { actieId: request.params.actieId.toLowerCase(), ...changerOf(request, reply) };
    await changeActie(actieLog, writer, target, (current) => {
      allow(request, 'verwijderen', [categorieOf(current)]);
      requireMatch(request, etag(current.versie));
      return ended(current, clock.now(), auteurOf(request));
    });
    return reply.code(204).send();
  });
}

/** F2969 and F4415: the confidentiality or term of a whole processing. All of its actions change, or none. */
export function patchVerwerkingsacties(app: FastifyInstance): void {
  const { contract, access } = app.verwerkingenlog;
  const { clock, actieLog } = app;
  const writer = app.proof('verwerkingen');
  const proof = writer === undefined ? undefined : { writer, keys: actieLog.keys };
  contract.serve(app, 'patchVerwerkingsacties', { authenticate: access }, async (request, reply) => {
    const { bewaartermijn, vertrouwelijkheid: word } = request.body;
    refuse(termFaults(bewaartermijn));
    const vertrouwelijkheid = word === undefined ? undefined : readVertrouwelijkheid(word);
    const verwerkingId = request.query.verwerkingId.toLowerCase();
    const withLdv = callerOf(request).scopes.has('update:confidential');
    const change = { names: lockOfVerwerking(verwerkingId), ...changerOf(request, reply) };
    const appended = await actieLog.changes.run(change, async (db) => {
      // Later appends are not affected.
      const acties = await readActies(db, verwerkingId, { withLdv });
      if (acties.length === 0) throw unknownVerwerkingsactie('verwerkingId');
      allow(
        request,
        vertrouwelijkheid === undefined ? 'bewaartermijn' : 'vertrouwelijkheid',
        acties.map(({ categorie }) => categorie),
      );
      const patch = { vertrouwelijkheid, bewaartermijn, proof };
      return await patchActies(db, acties, patch, clock.now(), auteurOf(request), actieLog.store);
    });
    appended.forEach(actieLog.count);
    return reply.code(204).send();
  });
}
