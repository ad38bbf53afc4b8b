import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { serveIndex } from '../serve-index.ts';
import { serveDiwoo } from './routes.ts';
import { DIWOO_INDEX } from './write-index.ts';

export const diwoo = fp(
  async (app: FastifyInstance) => {
    await serveDiwoo(app, serveIndex(app, 'offer to DiWoo', DIWOO_INDEX));
  },
  { name: 'diwoo', dependencies: ['raadsfeed'] },
);
