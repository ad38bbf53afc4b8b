import type { FastifyInstance } from 'fastify';
import type { Pool } from '../database/pool.ts';
import { Problem } from '../lib/problem.ts';
import { platformProblems } from '../plugins/problems.ts';
import type { ProofWriter, ProvenLog } from '../proof/proof-log.ts';
import { numberedRecords, RECORD_PART, readRecordProof, storedRecords } from './store/proof.ts';

export const raadsfeedProofLog: ProvenLog = {
  name: 'raadsfeed',
  records: async ({ db, writer }) => storedRecords(db, writer),
  numbered: numberedRecords,
  routes: recordProofRoute,
};

/** `GET /proof/v1/raadsfeed/record/{sequenceNumber}`: the proof of a record, as a file that can be checked without this service. */
function recordProofRoute(app: FastifyInstance, pool: Pool, writer: ProofWriter): void {
  const config = { public: true };
  app.get<{ Params: { number: string } }>('/raadsfeed/record/:number', { config }, async (request, reply) => {
    if (!/^[1-9]\d{0,14}$/.test(request.params.number)) throw new Problem(platformProblems.notFound);
    const number = Number(request.params.number);
    const found = await readRecordProof(pool, writer, number);
    if (found.found === 'nothing') throw new Problem(platformProblems.notFound);
    if (found.found === 'removed') throw new Problem(platformProblems.bewijsVerwijderd);
    const shown = new Set([RECORD_PART]);
    const proof = found.found === 'record' ? await writer.prove(pool, { ...found, number, shown }) : undefined;
    if (proof === undefined)
      throw new Problem(platformProblems.bewijsVolgt, { headers: { 'retry-after': String(writer.intervalSeconds) } });
    return reply.header('cache-control', 'public, max-age=5').type('text/plain; charset=utf-8').send(proof);
  });
}
