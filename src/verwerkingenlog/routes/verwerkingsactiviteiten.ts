import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID } from '../../lib/patterns.ts';
import { Problem } from '../../lib/problem.ts';
import { moment } from '../../lib/time.ts';
import { callerOf } from '../../plugins/auth.ts';
import { refuse } from '../../plugins/faults.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { pageOf, readCursor } from '../domain/cursor.ts';
import { termFaults } from '../domain/verwerkingsactie.ts';
import { type Activiteit, activiteitOf } from '../domain/verwerkingsactiviteit.ts';
import {
  countActiviteiten,
  deleteActiviteit,
  listActiviteiten,
  readActiviteit,
  writeActiviteit,
} from '../store/activiteiten.ts';
import { lockOfActiviteit } from '../store/changes.ts';
import { MAX_COUNT } from '../store/find.ts';
import { auteurOf, changerOf, requireMatch, sendWithETag } from './verwerkingsacties.ts';

const CURSOR_PARTS = [/^[^\0]{1,242}$/u, UUID];

/** The register of processing activities. It has no personal data, so reading it leaves no entry. */
export function verwerkingsactiviteiten(app: FastifyInstance): void {
  const { contract, access, base } = app.verwerkingenlog;
  const { clock, actieLog } = app;
  const pool = app.database.logPool;
  const authenticate = { authenticate: access };
  const answer = ({ versie: _, ...activiteit }: Activiteit) => ({
    url: `${base()}/verwerkingsactiviteiten/${activiteit.verwerkingsactiviteitId}`,
    ...activiteit,
  });
  const keyOf = ({ naam, verwerkingsactiviteitId }: Activiteit): string[] => [naam, verwerkingsactiviteitId];

  contract.serve(app, 'getVerwerkingsactiviteiten', authenticate, async (request) => {
    const { limit, cursor: text } = request.query;
    const cursor = text === undefined ? undefined : readCursor(text, CURSOR_PARTS);
    if (text !== undefined && cursor === undefined)
      refuse([{ name: 'cursor', code: 'format', reason: 'is geen cursor van deze lijst' }]);
    const shown = shownToCaller(request);
    const found = await listActiviteiten(pool, shown, cursor, limit + 1);
    const { rows, ...links } = pageOf(
      found,
      { limit, cursor, keyOf },
      { address: `${base()}/verwerkingsactiviteiten`, url: request.url },
    );
    const count = await countActiviteiten(pool, shown, MAX_COUNT);
    return { count, ...links, results: rows.map(answer) };
  });

  contract.serve(app, 'getVerwerkingsactiviteit', authenticate, async (request, reply) => {
    const activiteit = await readActiviteit(pool, request.params.verwerkingsactiviteitId);
    if (activiteit === undefined || !shownToCaller(request).includes(activiteit.vertrouwelijkheid))
      throw notInRegister();
    return sendWithETag(request, reply, etag(activiteit), answer(activiteit));
  });

  contract.serve(app, 'putVerwerkingsactiviteit', authenticate, async (request, reply) => {
    const id = request.params.verwerkingsactiviteitId.toLowerCase();
    refuse(termFaults(request.body.bewaartermijn));
    const activiteit = await actieLog.changes.run(
      { names: [lockOfActiviteit(id)], ...changerOf(request, reply) },
      async (db) => {
        const known = await readActiviteit(db, id);
        requireMatch(request, known && etag(known));
        const registered = { versie: (known?.versie ?? 0) + 1, tijdstipRegistratie: moment(clock.now()) };
        const made = activiteitOf(request.body, { verwerkingsactiviteitId: id, ...registered });
        await writeActiviteit(db, made, auteurOf(request));
        return made;
      },
    );
    const body = answer(activiteit);
    if (activiteit.versie === 1) reply.code(201).header('location', body.url);
    reply.header('etag', etag(activiteit));
    return body;
  });

  contract.serve(app, 'deleteVerwerkingsactiviteit', authenticate, async (request, reply) => {
    const id = request.params.verwerkingsactiviteitId.toLowerCase();
    await actieLog.changes.run({ names: [lockOfActiviteit(id)], ...changerOf(request, reply) }, async (db) => {
      const known = await readActiviteit(db, id);
      if (known === undefined) throw notInRegister();
      requireMatch(request, etag(known));
      await deleteActiviteit(db, id, moment(clock.now()), auteurOf(request));
    });
    return reply.code(204).send();
  });
}

/** Confidential activities would reveal investigations. */
function shownToCaller(request: FastifyRequest): readonly Activiteit['vertrouwelijkheid'][] {
  return callerOf(request).scopes.has('read:confidential') ? ['normaal', 'vertrouwelijk'] : ['normaal'];
}

function notInRegister(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'De verwerkingsactiviteit staat niet in het register.' });
}

/** The `ETag` of an activity. Its version numbers restart when it is removed and added again, and an old tag must not match the new one. */
function etag({ versie, tijdstipRegistratie }: Activiteit): string {
  return `"${versie}-${Date.parse(tijdstipRegistratie).toString(36)}"`;
}
