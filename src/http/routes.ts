/** What the server knows of its own routes: who may call each, and which methods an address has. */
import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';
import { MAX_TARGET_LENGTH } from './request-head.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route of the server with who may call it. */
    readonly routePolicies: () => readonly RoutePolicy[];
    /** The value for `Allow` on an address, or `undefined` when no route has it. */
    readonly allowedMethods: (url: string) => string | undefined;
  }
}

export interface RoutePolicy {
  readonly method: string;
  readonly url: string;
  readonly public: boolean;
  readonly scopes: readonly string[] | undefined;
  readonly operationId: string | undefined;
}

/**
 * Requires of every route that it says who may call: `public`, or the `scopes`. A route that forgot keeps the server from
 * starting. Call before any route.
 */
export function requireAccessPolicy(app: FastifyInstance): void {
  const routes: (() => RoutePolicy)[] = [];
  app.decorate('routePolicies', () => routes.map((policy) => policy()));
  app.addHook('onRoute', (options) => {
    for (const method of [options.method].flat()) {
      // Read late: hooks of a scope still set the configuration of its routes.
      routes.push(() => ({
        method,
        url: options.url,
        public: options.config?.public ?? false,
        scopes: options.config?.scopes,
        operationId: options.config?.operationId,
      }));
    }
  });
  app.addHook('onReady', async () => {
    const open = app.routePolicies().filter(({ public: isPublic, scopes }) => !isPublic && scopes === undefined);
    if (open.length > 0) {
      throw new TypeError(`who may call ${open.map(({ method, url }) => `${method} ${url}`).join(', ')}?`);
    }
  });
}

/** Characters of one path parameter: a `bronidentificatie` of 500 characters, each percent-encoded in up to 12. */
export const MAX_PARAM_LENGTH = 6000;

// Fastify can say whether a pattern has a method, not which patterns a path meets; so the same router is kept beside it.
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

function isMethod(method: string): method is Method {
  return METHODS.some((known) => known === method);
}

/** Keeps the methods of every route, so that another one on a known path gets 405 and not 404. Call before any route. */
export function methodNotAllowed(app: FastifyInstance): void {
  const router = findMyWay({ maxParamLength: MAX_PARAM_LENGTH });
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) {
      if (isMethod(one) && !router.hasRoute(one, url)) router.on(one, url, () => undefined);
    }
  });
  app.decorate('allowedMethods', (url: string) => {
    const path = url.split('?', 1)[0] ?? url;
    // No route is that long, and each method would decode it anew.
    if (path.length > MAX_TARGET_LENGTH) return undefined;
    const found = METHODS.filter((method) => router.find(method, path) != null);
    if (found.length === 0) return undefined;
    return (found.includes('GET') ? [...found, 'OPTIONS'] : found).join(', ');
  });
}
