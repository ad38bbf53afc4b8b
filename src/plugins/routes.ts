import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { MAX_TARGET_LENGTH } from './headers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True on routes open to anyone; every other route names `scopes`. */
    public?: boolean;
    scopes?: readonly string[];
    operationId?: string;
  }
  interface FastifyInstance {
    readonly routePolicies: () => readonly RoutePolicy[];
    /** The value for `Allow` on an address, or `undefined` when no route has it. */
    readonly allowedMethods: (url: string) => string | undefined;
  }
}

/** Register it before any route. */
export const routes = fp(
  async (app: FastifyInstance) => {
    methodNotAllowed(app);
    requireAccessPolicy(app);
  },
  { name: 'routes' },
);

export interface RoutePolicy {
  readonly method: string;
  readonly url: string;
  readonly public: boolean;
  readonly scopes: readonly string[] | undefined;
  readonly operationId: string | undefined;
}

/** Requires every route to declare its access: `public` or `scopes`. Otherwise the server does not start. */
function requireAccessPolicy(app: FastifyInstance): void {
  const routes: (() => RoutePolicy)[] = [];
  app.decorate('routePolicies', () => routes.map((policy) => policy()));
  app.addHook('onRoute', (options) => {
    for (const method of [options.method].flat()) {
      // Read later, because hooks of a scope may still set the configuration of its routes.
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
      const names = open.map(({ method, url }) => `${method} ${url}`).join(', ');
      throw new TypeError(`neither public nor limited to scopes: ${names}`);
    }
  });
}

export function publicUnlessSaid(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.scopes === undefined) route.config = { ...route.config, public: true };
  });
}

/** Characters of one path parameter: a `bronidentificatie` of 500 characters, each percent-encoded in up to 12. */
export const MAX_PARAM_LENGTH = 6000;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function methodNotAllowed(app: FastifyInstance): void {
  app.decorate('allowedMethods', (url: string) => {
    const path = url.split('?', 1)[0] ?? url;
    // Longer than any route, and the router would decode it for each method.
    if (path.length > MAX_TARGET_LENGTH) return undefined;
    // For a parameter that is too long the router finds its own refusal, which has no `searchParams`.
    const found = METHODS.filter((method) => app.findRoute({ method, url: path })?.searchParams !== undefined);
    if (found.length === 0) return undefined;
    return (found.includes('GET') ? [...found, 'OPTIONS'] : found).join(', ');
  });
}
