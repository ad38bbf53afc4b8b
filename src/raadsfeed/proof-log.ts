import type { FastifyInstance } from 'fastify';
import type { Pool } from '../database/pool.ts';
import { Problem } from '../lib/problem.ts';
import { platformProblems } from '../plugins/problems.ts';
import type { ProofWriter, ProvenLog } from '../proof/proof-log.ts';
import { RECORD_PART } from './store/proof.ts';
import { numberedRecords, readRecordProof, storedRecords } from './store/proof-records.ts';

export const raadsfeedProofLog: ProvenLog = {
  name: 'raadsfeed',
  records: async ({ db, writer }) => storedRecords(db, writer),
  numbered: numberedRecords,
  routes: recordProofRoute,
};

/** A proof may be used from a cache for a few seconds. */
const SHORT = 'public, max-age=5';
const TEXT = 'text/plain; charset=utf-8';

/** `GET /proof/v1/raadsfeed/record/{sequenceNumber}`: the proof of a record, as a file that can be checked without this service. */
function recordProofRoute(app: FastifyInstance, pool: Pool, writer: ProofWriter): void {
  const config = { public: true };
  app.get<{ Params: { number: string } }>('/raadsfeed/record/:number', { config }, async (request, reply) => {
    if (!/^[1-9]\d{0,14}$/.test(request.params.number)) throw new Problem(platformProblems.notFound);
    const number = Number(request.params.number);
    const found = await readRecordProof(pool, writer, number);
    if (found.found === 'nothing') throw new Problem(platformProblems.notFound);
    if (found.found === 'removed') throw new Problem(platformProblems.bewijsVerwijderd);
    const proof =
      found.found === 'record'
        ? await writer.prove(pool, { ...found, number, shown: new Set([RECORD_PART]) })
        : undefined;
    if (proof === undefined)
      throw new Problem(platformProblems.bewijsVolgt, { headers: { 'retry-after': String(writer.intervalSeconds) } });
    return reply.header('cache-control', SHORT).type(TEXT).send(proof);
  });
}
