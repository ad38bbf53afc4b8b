import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { mountScope } from '../../plugins/requests.ts';
import { readBrand } from '../brand.ts';
import { apiPage } from './api-page.ts';
import { rootRoutes } from './root.ts';
import { swaggerUi } from './swagger.ts';

export const front = fp(
  async (app: FastifyInstance) => {
    const brand = readBrand(app.settings);
    rootRoutes(app, brand);
    app.decorate('interfacePage', (one) => apiPage(one, brand));
    for (const one of app.interfaces) {
      await mountScope(app, {
        prefix: `${one.prefix}/docs`,
        rateLimit: one.rateLimit,
        routes: (scope) => swaggerUi(scope, one),
      });
    }
  },
  { name: 'front', dependencies: ['service', 'operations', 'requests'] },
);
