import type { FastifyInstance } from 'fastify';
import type { InvalidParam } from '../../lib/problem.ts';
import { toUtc } from '../../lib/time.ts';
import { callerOf } from '../../plugins/auth.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import { invalidRequest, refuse } from '../../plugins/faults.ts';
import { traceOf } from '../../plugins/headers.ts';
import { changeActie } from '../changes.ts';
import { categorieOf } from '../domain/categories.ts';
import {
  type Actie,
  type ActieBody,
  bodyFaults,
  ended,
  isWhole,
  momentFaults,
  readActie,
  readVertrouwelijkheid,
  replaced,
  silentLosses,
  termFaults,
} from '../domain/verwerkingsactie.ts';
import { lockOfVerwerking, patchActies, readActies } from '../store/changes.ts';
import { actieAnswer, allow, auteurOf, etag, requireMatch, unknownVerwerkingsactie } from './request-reply.ts';

/** The action of a body that has all required members. @throws {Problem} 400, by the clock of the database too */
async function parseAction(body: ActieBody, { settings, actieLog }: FastifyInstance): Promise<Actie> {
  const actie = readActie(body);
  const latest = await actieLog.latestMoment(Date.parse(actie.tijdstip));
  refuse([...bodyFaults(body, settings.verwerkingenlog), ...momentFaults(actie.tijdstip, latest)]);
  return actie;
}

/** The faults of a body that the contract has refused for others: all are answered together. */
function furtherFaults(
  body: Readonly<Record<string, unknown>>,
  settings: { readonly checkBsn: boolean },
): InvalidParam[] {
  const { tijdstip } = body;
  return [...bodyFaults(body, settings), ...(typeof tijdstip === 'string' ? momentFaults(toUtc(tijdstip) ?? '') : [])];
}

/** F7446 and F6624: storing an action. */
export function postVerwerkingsactie(app: FastifyInstance): void {
  const { contract, access, base } = app.verwerkingenlog;
  const { verwerkingenlog: settings } = app.settings;
  contract.serve(
    app,
    'postVerwerkingsactie',
    { authenticate: access, furtherFaults: ({ body }) => furtherFaults(Object(body), settings) },
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
  const { verwerkingenlog: settings } = app.settings;
  const { clock, actieLog } = app;
  const writer = app.proof('verwerkingen');

  contract.serve(
    app,
    'putVerwerkingsactie',
    { authenticate: access, furtherFaults: ({ body }) => furtherFaults(Object(body), settings) },
    async (request, reply) => {
      const { body } = request;
      const actie = isWhole(body) ? await parseAction(body, app) : undefined;
      // No scope allows this: only a whole processing can be lifted.
      if (actie?.vertrouwelijkheid === 'opgeheven') allow(request, 'vastleggen', ['opgeheven']);
      const versie = await changeActie(actieLog, writer, {
        actieId: request.params.actieId.toLowerCase(),
        verwerkingId: actie?.verwerkingId ?? null,
        objects: actie?.verwerkteObjecten.length ?? 0,
        client: callerOf(request).subject,
        signal: requestClosedSignal(reply),
        change: (current, lastNumber) => {
          allow(request, 'wijzigen', [categorieOf(current), ...(actie === undefined ? [] : [actie.vertrouwelijkheid])]);
          requireMatch(request, etag(current.versie));
          const lost = silentLosses(body, current);
          if (actie === undefined || lost.length > 0) throw invalidRequest(lost);
          return replaced(current, actie, lastNumber, clock.now(), auteurOf(request));
        },
      });
      if (versie === undefined) throw unknownVerwerkingsactie('actieId');
      reply.header('etag', etag(versie.versie));
      return actieAnswer(versie, base(), false);
    },
  );

  contract.serve(app, 'deleteVerwerkingsactie', { authenticate: access }, async (request, reply) => {
    const versie = await changeActie(actieLog, writer, {
      actieId: request.params.actieId.toLowerCase(),
      verwerkingId: null,
      objects: 0,
      client: callerOf(request).subject,
      signal: requestClosedSignal(reply),
      change: (current) => {
        allow(request, 'verwijderen', [categorieOf(current)]);
        requireMatch(request, etag(current.versie));
        return ended(current, clock.now(), auteurOf(request));
      },
    });
    if (versie === undefined) throw unknownVerwerkingsactie('actieId');
    return reply.code(204).send();
  });
}

/** F2969 and F4415: the confidentiality or term of a whole processing. All of its actions change, or none. */
export function patchVerwerkingsacties(app: FastifyInstance): void {
  const { contract, access } = app.verwerkingenlog;
  const { clock, actieLog } = app;
  const writer = app.proof('verwerkingen');
  contract.serve(app, 'patchVerwerkingsacties', { authenticate: access }, async (request, reply) => {
    const { bewaartermijn } = request.body;
    refuse(termFaults(bewaartermijn));
    const word = request.body.vertrouwelijkheid;
    const vertrouwelijkheid = word === undefined ? undefined : readVertrouwelijkheid(word);
    const verwerkingId = request.query.verwerkingId.toLowerCase();
    const names = lockOfVerwerking(verwerkingId);
    const proof = writer === undefined ? undefined : { writer, keys: actieLog.keys };
    const withLdv = callerOf(request).scopes.has('update:confidential');
    const change = { names, client: callerOf(request).subject, signal: requestClosedSignal(reply) };
    await actieLog.changes.run(change, async (db) => {
      // Later appends are not affected.
      const acties = await readActies(db, verwerkingId, { withLdv });
      if (acties.length === 0) throw unknownVerwerkingsactie('verwerkingId');
      allow(
        request,
        vertrouwelijkheid === undefined ? 'bewaartermijn' : 'vertrouwelijkheid',
        acties.map(({ categorie }) => categorie),
      );
      const patch = { vertrouwelijkheid, bewaartermijn, proof };
      await patchActies(db, acties, patch, clock.now(), auteurOf(request), actieLog.store);
    });
    return reply.code(204).send();
  });
}
