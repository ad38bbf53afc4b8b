import type { FastifyInstance, RouteOptions } from 'fastify';
import findMyWay from 'find-my-way';
import { MAX_TARGET_LENGTH } from './request-head.ts';

export interface RoutePolicy {
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
export function requireAccessPolicy(app: FastifyInstance): void {
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
export function routesOf(app: FastifyInstance): RoutePolicy[] {
  return (noted.get(app.server) ?? []).map(({ method, url, options: { config } }) => ({
    method,
    url,
    public: config?.public ?? false,
    scopes: config?.scopes,
    operationId: config?.operationId,
  }));
}

/** Characters of one path parameter: a `bronidentificatie` of 500 characters, each percent-encoded in up to 12. */
export const MAX_PARAM_LENGTH = 6000;

// Fastify can say whether a pattern has a method, not which patterns a path meets; so the same router is kept beside it.
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

const routers = new WeakMap<object, findMyWay.Instance<findMyWay.HTTPVersion.V1>>();

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method);
}

/** Notes every route of the server, so that another method on a known path gets 405 and not 404. Call before any route. */
export function noteMethods(app: FastifyInstance): void {
  const router = findMyWay({ maxParamLength: MAX_PARAM_LENGTH });
  routers.set(app.server, router);
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      if (isMethod(one) && !router.hasRoute(one, url)) router.on(one, url, () => undefined);
    }
  });
}

/** The value for `Allow` on this address, or `undefined` when no route has it. */
export function allowedMethods(app: FastifyInstance, url: string): string | undefined {
  const router = routers.get(app.server);
  const path = url.split('?', 1)[0] ?? url;
  // No route is that long, and each method would decode it anew.
  if (path.length > MAX_TARGET_LENGTH) return undefined;
  const found = METHODS.filter((method) => router?.find(method, path) != null);
  if (found.length === 0) return undefined;
  return (found.includes('GET') ? [...found, 'OPTIONS'] : found).join(', ');
}
