import type { FastifyInstance } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { RECORD_PART, readRecordProof } from '../../raadsfeed/store/proof.ts';
import type { ProofWriter } from '../../seams/proof-log.ts';

interface RecordProofNeeds {
  readonly pool: Pool;
  readonly writer: ProofWriter;
}

/** `GET /proof/v1/raadsfeed/record/{sequenceNumber}`: the proof of a record, as a file that can be checked without this service. */
export function recordProofRoute(app: FastifyInstance, { pool, writer }: RecordProofNeeds): void {
  app.get<{ Params: { number: string } }>(
    '/raadsfeed/record/:number',
    { config: { public: true } },
    async (request, reply) => {
      const { number } = request.params;
      if (!/^[1-9]\d{0,14}$/.test(number)) throw new Problem(platformProblems.notFound);
      const sequenceNumber = Number(number);
      const found = await readRecordProof(pool, writer, sequenceNumber);
      if (found.found === 'nothing') throw new Problem(platformProblems.notFound);
      if (found.found === 'removed') throw new Problem(platformProblems.bewijsVerwijderd);
      const proof =
        found.found === 'record'
          ? await writer.prove(pool, { ...found, number: sequenceNumber, shown: new Set([RECORD_PART]) })
          : undefined;
      if (proof === undefined)
        throw new Problem(platformProblems.bewijsVolgt, {
          headers: { 'retry-after': String(writer.intervalSeconds) },
        });
      return reply.headers({ 'cache-control': 'public, max-age=5' }).type('text/plain; charset=utf-8').send(proof);
    },
  );
}
