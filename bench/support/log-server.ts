/** A server with only the processing log, which logs errors only; with `BENCH_MEMORY` it does the same but stores nothing. */
import process from 'node:process';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../src/app.ts';
import { createLogger } from '../../src/lib/log.ts';
import { moment } from '../../src/lib/time.ts';
import { tokens } from '../../src/plugins/tokens.ts';
import { proof } from '../../src/proof/plugin.ts';
import { toStore } from '../../src/verwerkingenlog/domain/encryption.ts';
import { eersteVersie, newActieId } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import { verwerkingenlog } from '../../src/verwerkingenlog/plugin.ts';
import { processingLog } from '../../src/verwerkingenlog/processing-log.ts';
import { verwerkingenProofLog } from '../../src/verwerkingenlog/proof-log.ts';
import { readTestConfig } from '../../test/support/overrides.ts';
import { serveParent } from './children.ts';

/** Does all the work of storing an action except the database's. */
function inMemory(log: FastifyInstance['actieLog']): (typeof log)['append'] {
  return async (actie, auteur) => {
    const versie = eersteVersie(actie, newActieId(new Date()), moment(new Date()), auteur);
    toStore(undefined, versie, log.keys);
    return versie;
  };
}

const app = await buildApp({
  config: readTestConfig({ ...process.env, AREAS: 'verwerkingenlog', LOG_LEVEL: 'error' }, 'serve'),
  log: createLogger('error'),
  register: async (scope) => {
    await scope.register(tokens);
    await scope.register(processingLog);
    if (process.env.BENCH_MEMORY === 'true') Object.assign(scope.actieLog, { append: inMemory(scope.actieLog) });
    await scope.register(verwerkingenlog);
    // With PROOF_KEY it keeps the proof log too, as in production.
    await scope.register(proof, { logs: [verwerkingenProofLog] });
  },
});
await app.listen({ host: '127.0.0.1', port: 0 });
const url = app.publicBaseUrl();

await serveParent(
  async () => ({ url, rss: process.memoryUsage().rss }),
  () => app.close(),
);
