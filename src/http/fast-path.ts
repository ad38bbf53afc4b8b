import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { namesHost } from './demand-host.ts';

/**
 * Answers a request before the framework sees it, or leaves it to the framework.
 * @param pass hands the request on: now, or later when the fast path had to wait
 * @returns whether the fast path has taken the request: it will answer it, or call `pass`
 */
export type FastPath = (request: IncomingMessage, response: ServerResponse, pass: () => void) => boolean;

/**
 * Puts fast paths in front of the router. For answers that are given tens of thousands of times a second the framework is most of the
 * work; whatever such a path does not know for certain goes the ordinary way. Call once all routes are there.
 */
export function installFastPaths(app: FastifyInstance, paths: readonly FastPath[]): void {
  if (paths.length === 0) return;
  const [handle] = app.server.listeners('request');
  if (handle === undefined || app.server.listenerCount('request') !== 1)
    throw new TypeError('the server has no one handler');
  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    const pass = (): void => {
      Reflect.apply(handle, app.server, [request, response]);
    };
    if (!namesHost(request) || !paths.some((path) => path(request, response, pass))) pass();
  });
}
