import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { serveInzage } from './routes.ts';

/** Pages on which citizens see what was done with their data. */
export const plugin = fp(
  (app: FastifyInstance) => serveInzage(app, { log: app.actieLog, loggedRead: app.verwerkingenlog.loggedRead }),
  { name: 'inzage', dependencies: ['verwerkingenlog'] },
);
