import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UUID } from '../../lib/patterns.ts';
import { Problem } from '../../lib/problem.ts';
import { callerOf } from '../../plugins/auth.ts';
import { requestClosedSignal } from '../../plugins/connections.ts';
import { refuse } from '../../plugins/faults.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { Change } from '../changes.ts';
import { pageOf, readCursor, writeCursor } from '../domain/cursor.ts';
import { termFaults } from '../domain/verwerkingsactie.ts';
import { type Activiteit, readActiviteitBody } from '../domain/verwerkingsactiviteit.ts';
import {
  countActiviteiten,
  deleteActiviteit,
  listActiviteiten,
  readActiviteit,
  writeActiviteit,
} from '../store/activiteiten.ts';
import { lockOfActiviteit } from '../store/changes.ts';
import { MAX_COUNT } from '../store/find.ts';
import { linkTo } from './person-page.ts';
import { auteurOf, requireMatch, sendWithETag } from './verwerkingsacties.ts';

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

  contract.serve(app, 'getVerwerkingsactiviteiten', authenticate, async (request) => {
    const { limit } = request.query;
    const cursor = request.query.cursor === undefined ? undefined : readCursor(request.query.cursor, CURSOR_PARTS);
    if (request.query.cursor !== undefined && cursor === undefined) {
      refuse([{ name: 'cursor', code: 'format', reason: 'is geen cursor van deze lijst' }]);
    }
    const shown = shownToCaller(request);
    const page = pageOf(await listActiviteiten(pool, shown, cursor, limit + 1), limit, cursor?.direction);
    const link = (direction: 'after' | 'before', at: Activiteit | undefined): string | null =>
      at === undefined
        ? null
        : linkTo(
            request,
            `${base()}/verwerkingsactiviteiten`,
            writeCursor({ direction, key: [at.naam, at.verwerkingsactiviteitId] }),
          );
    return {
      count: await countActiviteiten(pool, shown, MAX_COUNT),
      next: page.next ? link('after', page.rows.at(-1)) : null,
      previous: page.previous ? link('before', page.rows.at(0)) : null,
      results: page.rows.map(answer),
    };
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
    const velden = readActiviteitBody(request.body);
    const activiteit = await actieLog.changes.run(changeOf(id, request, reply), async (db) => {
      const known = await readActiviteit(db, id);
      requireMatch(request, known && etag(known));
      return writeActiviteit(db, id, velden, { ...auteurOf(request), at: clock.now(), known: known?.versie ?? 0 });
    });
    const body = answer(activiteit);
    if (activiteit.versie === 1) reply.code(201).header('location', body.url);
    reply.header('etag', etag(activiteit));
    return body;
  });

  contract.serve(app, 'deleteVerwerkingsactiviteit', authenticate, async (request, reply) => {
    const id = request.params.verwerkingsactiviteitId.toLowerCase();
    await actieLog.changes.run(changeOf(id, request, reply), async (db) => {
      const known = await readActiviteit(db, id);
      if (known === undefined) throw notInRegister();
      requireMatch(request, etag(known));
      await deleteActiviteit(db, id, clock.now(), auteurOf(request));
    });
    return reply.code(204).send();
  });
}

/** Confidential activities would reveal investigations. */
function shownToCaller(request: FastifyRequest): readonly Activiteit['vertrouwelijkheid'][] {
  return callerOf(request).scopes.has('read:confidential') ? ['normaal', 'vertrouwelijk'] : ['normaal'];
}

function changeOf(id: string, request: FastifyRequest, reply: FastifyReply): Change {
  return { names: [lockOfActiviteit(id)], client: callerOf(request).subject, signal: requestClosedSignal(reply) };
}

function notInRegister(): Problem {
  return new Problem(platformProblems.notFound, { detail: 'De verwerkingsactiviteit staat niet in het register.' });
}

/** The `ETag` of an activity. Its version numbers restart when it is removed and added again, and an old tag must not match the new one. */
function etag({ versie, tijdstipRegistratie }: Activiteit): string {
  return `"${versie}-${Date.parse(tijdstipRegistratie).toString(36)}"`;
}
