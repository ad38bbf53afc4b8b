import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../http/auth.ts';
import { requestClosedSignal } from '../../http/connections.ts';
import { termFaults } from '../domain/actie-faults.ts';
import { readVertrouwelijkheid } from '../domain/read-actie.ts';
import { lockOfVerwerking } from '../store/lock-changes.ts';
import { patchVerwerking, readCategorieen } from '../store/patch-verwerking.ts';
import { allow, auteurOf, type RouteNeeds, refuse, unknown } from './route-needs.ts';

/** F2969 and F4415: confidentiality or term of a whole processing; all of its actions change, or none. */
export function patchVerwerkingsacties(app: FastifyInstance, needs: RouteNeeds): void {
  const { contract, access, platform } = needs;
  contract.serve(app, 'patchVerwerkingsacties', { authenticate: access }, async (request, reply) => {
    const { bewaartermijn } = request.body;
    refuse(termFaults(bewaartermijn, platform.clock.now()));
    const given = request.body.vertrouwelijkheid;
    const vertrouwelijkheid = given === undefined ? undefined : readVertrouwelijkheid(given);
    const verwerkingId = request.query.verwerkingId.toLowerCase();
    const names = lockOfVerwerking(verwerkingId);
    await needs.log.changes.run(
      { names, client: callerOf(request).subject, gone: requestClosedSignal(reply) },
      async (db) => {
        const touched = await readCategorieen(db, verwerkingId);
        if (touched.length === 0) throw unknown('verwerkingId');
        const handeling = vertrouwelijkheid === undefined ? 'bewaartermijn' : 'vertrouwelijkheid';
        allow(request, handeling, touched);
        // Keeping a new action waits for no lock: what came into the processing since is judged too, and nothing changed when it may not.
        const changed = await patchVerwerking(
          db,
          verwerkingId,
          { vertrouwelijkheid, bewaartermijn },
          platform.clock.now(),
          auteurOf(request),
        );
        allow(request, handeling, changed);
      },
    );
    return reply.code(204).send();
  });
}
