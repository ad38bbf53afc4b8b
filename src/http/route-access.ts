import type { FastifyInstance, RouteOptions } from 'fastify';

export interface NotedRoute {
  readonly method: string;
  readonly url: string;
  readonly public: boolean;
  readonly scopes: readonly string[] | undefined;
  readonly operationId: string | undefined;
}

const noted = new WeakMap<object, { method: string; url: string; options: RouteOptions }[]>();

/**
 * Demands of every route that it says who may call: `public`, or the `scopes`. A route that forgot keeps the server from
 * starting. Call before any route.
 */
export function demandAccess(app: FastifyInstance): void {
  const routes: { method: string; url: string; options: RouteOptions }[] = [];
  noted.set(app.server, routes);
  app.addHook('onRoute', (options) => {
    for (const method of [options.method].flat()) routes.push({ method, url: options.url, options });
  });
  app.addHook('onReady', async () => {
    const open = routesOf(app).filter(({ public: isPublic, scopes }) => !isPublic && scopes === undefined);
    if (open.length > 0) {
      throw new TypeError(`who may call ${open.map(({ method, url }) => `${method} ${url}`).join(', ')}?`);
    }
  });
}

/** Every route of the server with who may call it. */
export function routesOf(app: FastifyInstance): NotedRoute[] {
  return (noted.get(app.server) ?? []).map(({ method, url, options: { config } }) => ({
    method,
    url,
    public: config?.public ?? false,
    scopes: config?.scopes,
    operationId: config?.operationId,
  }));
}
