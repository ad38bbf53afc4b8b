import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Platform } from '../../kernel/platform.ts';
import { createAggregator } from './aggregator.ts';

/** Follows the sources of the feed. */
export const plugin = fp(
  async (app: FastifyInstance, { platform }: { readonly platform: Platform }) => {
    const running = createAggregator(platform);
    app.addHook('onListen', async () => running.start());
    app.addHook('onClose', async () => running.close());
    app.operatorPage.add(running.section);
    app.feed.knowCompleteness(running.completenessOf);
  },
  { name: 'aggregator', dependencies: ['raadsfeed'] },
);
