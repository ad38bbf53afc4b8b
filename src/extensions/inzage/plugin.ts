import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Platform } from '../../platform.ts';
import { serveInzage } from './routes.ts';

/** Pages on which citizens see what was done with their data. */
export const plugin = fp(
  (app: FastifyInstance, { platform }: { readonly platform: Platform }) =>
    serveInzage(app, platform, { log: app.actieLog, loggedRead: app.verwerkingenlog.loggedRead }),
  { name: 'inzage', dependencies: ['verwerkingenlog'] },
);
