/** Registers the three interfaces with what they need, and the extensions that are switched on. Each is loaded where it is served only: that is half the memory of an idle process. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { PoolShare } from './database/open-database.ts';
import { createOutboundFetch } from './lib/outbound/outbound-client.ts';
import type { Platform } from './platform.ts';
import { importFromExtensions } from './seams/extensions.ts';
import { type Config, servedExtensions } from './settings/read-config.ts';

/** @throws {Error} when keys or certificates cannot be used; closing the server gives back what was opened */
export async function registerAreas(app: FastifyInstance, platform: Platform): Promise<void> {
  const { config } = platform;
  const variants = (['shv', 'vs'] as const).filter((variant) => mounts(config, variant));
  const mountsLog = mounts(config, 'verwerkingenlog');
  const mountsFeed = mounts(config, 'raadsfeed');
  const sharing = (share: PoolShare): Platform => ({ ...platform, pool: platform.shares[share] });
  const outbound = createOutboundFetch(config.server);
  app.addHook('onClose', outbound.close);
  // The feed alone needs no tokens, logs no processing, and need not have the keys of the log.
  if (mountsLog || variants.length > 0) {
    const { tokens } = await import('./plugins/tokens.ts');
    // Without tokens the feed, which is public, is still served.
    await app.register(tokens, { platform, fetch: outbound.fetch, isVital: !mountsFeed });
    const { processingLog } = await import('./verwerkingenlog/processing-log.ts');
    await app.register(processingLog, { platform: sharing('append') });
  }
  if (variants.length > 0) {
    const { gegevens } = await import('./gegevens/plugin.ts');
    // What makes one interface useless only warns where others are served.
    await app.register(gegevens, { platform: sharing('gegevens'), variants, isVital: !mountsLog && !mountsFeed });
  }
  if (mountsLog) {
    const { verwerkingenlog } = await import('./verwerkingenlog/plugin.ts');
    await app.register(verwerkingenlog, { platform: sharing('verwerkingenlog') });
  }
  if (mountsFeed) {
    const { raadsfeed } = await import('./raadsfeed/plugin.ts');
    await app.register(raadsfeed, { platform: sharing('raadsfeed') });
  }
  const served = servedExtensions(config);
  for (const { extension, module } of await importFromExtensions('plugin', (name) => served.includes(name))) {
    if (!isPluginModule(module)) throw new TypeError(`the plugin.ts of ${extension} has no plugin`);
    await app.register(module.plugin, { platform });
  }
}

interface PluginModule {
  readonly plugin: FastifyPluginAsync<{ readonly platform: Platform }>;
}

function isPluginModule(module: object): module is PluginModule {
  return 'plugin' in module && typeof module.plugin === 'function';
}

function mounts(config: Config, area: Config['server']['areas'][number]): boolean {
  return config.server.areas.includes(area);
}
