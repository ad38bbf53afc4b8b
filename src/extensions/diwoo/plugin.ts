import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { followStep } from './follow-feed.ts';
import { serveDiwoo } from './routes.ts';

/** Offers the documents of the feed to the national index. */
export const plugin = fp(
  async (app: FastifyInstance) => {
    const { shares, readPool } = app.database;
    app.feed.follow('what is offered to DiWoo', () => followStep(shares.raadsfeed));
    await serveDiwoo(app, { pool: readPool, responses: app.feed.responses });
  },
  { name: 'diwoo', dependencies: ['raadsfeed'] },
);
