import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { followIndex } from '../followed-index.ts';
import { serveDiwoo } from './routes.ts';
import { DIWOO_INDEX } from './write-index.ts';

export const diwoo = fp(
  async (app: FastifyInstance) => {
    await serveDiwoo(app, followIndex(app, 'offer to DiWoo', DIWOO_INDEX));
  },
  { name: 'diwoo', dependencies: ['raadsfeed'] },
);
