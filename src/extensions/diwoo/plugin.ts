import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { serveDiwoo } from './routes.ts';
import { followStep } from './write-index.ts';

/** Offers the documents of the feed to the national index. */
export const plugin = fp(
  async (app: FastifyInstance) => {
    app.feed.follow('what is offered to DiWoo', () => followStep(app.database.shares.raadsfeed));
    await serveDiwoo(app);
  },
  { name: 'diwoo', dependencies: ['raadsfeed'] },
);
