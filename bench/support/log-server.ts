/** A server with only the processing log, as in production; with `BENCH_MEMORY` the same, but that it keeps nothing. */
import process from 'node:process';
import fp from 'fastify-plugin';
import { plugin as proof } from '../../src/extensions/proof/plugin.ts';
import { createLogger } from '../../src/lib/log.ts';
import { openPlatform } from '../../src/platform.ts';
import { buildServer } from '../../src/plugins/server.ts';
import { tokens } from '../../src/plugins/tokens.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { eersteVersie, newActieId } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import { verwerkingenlog } from '../../src/verwerkingenlog/plugin.ts';
import { type ActieLog, openProcessingLog } from '../../src/verwerkingenlog/processing-log.ts';
import { protect } from '../../src/verwerkingenlog/store/versions.ts';
import { serveParent } from './children.ts';

const open = await openPlatform({
  config: readConfig({ ...process.env, AREAS: 'verwerkingenlog', LOG_LEVEL: 'error' }, 'serve'),
  log: createLogger('error'),
  purpose: 'service',
});
const { platform } = open;
const app = await buildServer(platform);
await app.register(tokens, { platform, fetch, isVital: true });
const kept = await openProcessingLog(platform);
await app.register(
  fp(
    async (scope) => {
      scope.decorate('actieLog', process.env.BENCH_MEMORY === 'true' ? inMemory(kept) : kept);
      scope.addHook('onClose', kept.close);
    },
    { name: 'processing-log' },
  ),
);
await app.register(verwerkingenlog, { platform });
// With PROOF_KEY also the proof log, as in production.
await app.register(proof, { platform });
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
open.listensOn(url);

/** Does all that keeping an action takes, but for the database. */
function inMemory(log: ActieLog): ActieLog {
  return {
    ...log,
    append: async (actie, auteur) => {
      const versie = eersteVersie(actie, newActieId(new Date()), new Date(), auteur);
      protect(versie, log.keys);
      return versie;
    },
  };
}

await serveParent(
  async () => ({ url, rss: process.memoryUsage().rss }),
  async () => {
    await app.close();
    await open.close();
  },
);
