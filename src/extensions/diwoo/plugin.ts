import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Platform } from '../../platform.ts';
import { followStep } from './follow-feed.ts';
import { serveDiwoo } from './routes.ts';

/** Offers the documents of the feed to the national index. */
export const plugin = fp(
  async (app: FastifyInstance, { platform }: { readonly platform: Platform }) => {
    app.feed.follow('what is offered to DiWoo', () => followStep(platform.pool));
    await serveDiwoo(app, { platform, pool: platform.readPool, responses: app.feed.responses });
  },
  { name: 'diwoo', dependencies: ['raadsfeed'] },
);
