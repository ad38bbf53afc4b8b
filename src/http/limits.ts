import rateLimit from '@fastify/rate-limit';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import type { TokenVerifier } from '../kernel/oauth/token-verifier.ts';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';
import { type RateCount, RateCounter } from './rate-counter.ts';

/** Counts the requests per minute of each client of a mount; 0 limits nothing. */
export function createRateCounter(perMinute: number): RateCounter | undefined {
  return perMinute === 0 ? undefined : new RateCounter(perMinute, WINDOW_MS);
}

const WINDOW_MS = 60_000;

/** Limits what one client may ask of a mount. Runs before any work is done. */
export async function limitRate(
  app: FastifyInstance,
  counter: RateCounter | undefined,
  verifier?: TokenVerifier,
): Promise<void> {
  if (counter === undefined) return;
  const shared = counter;
  await app.register(rateLimit, {
    global: false,
    max: counter.max,
    timeWindow: WINDOW_MS,
    store: class extends RateCounter {
      constructor() {
        super(shared.max, WINDOW_MS);
      }
      // The plugin makes its store by itself; the calls must be counted in the one that others count in too.
      override hit(key: string): RateCount {
        return shared.hit(key);
      }
    },
    // A token counts as its subject only once it was verified: an invented one must not use up another's share.
    keyGenerator: (request) => {
      const token = bearer(request.headers['fsc-authorization'] ?? request.headers.authorization);
      const subject = token === undefined ? undefined : verifier?.cachedSubject(token);
      return subject === undefined ? `address ${request.ip}` : `subject ${subject}`;
    },
    errorResponseBuilder: (_request, { ttl }) =>
      new Problem(platformProblems.rateLimit, { headers: { 'retry-after': String(Math.ceil(ttl / 1000)) } }),
  });
  // A hook of the scope and not of each route: those run after the route's own, which look at the token.
  app.addHook('onRequest', app.rateLimit());
}

function bearer(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header.replace(/^bearer +/i, '') : undefined;
}

/** Refuses a body that says beforehand that it is larger than the limit: before the token is looked at, which costs more. */
export function limitBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const length = Number(request.headers['content-length'] ?? 0);
    if (length > 0 && !request.is404 && length > (request.routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY)) {
      throw new Problem(platformProblems.bodyTooLarge);
    }
    done();
  });
}

/** Sheds load while the event loop is later than the given milliseconds; 0 sheds nothing. */
export async function shedLoad(app: FastifyInstance, maxEventLoopDelayMs: number): Promise<void> {
  if (maxEventLoopDelayMs === 0) return;
  await app.register(underPressure, {
    maxEventLoopDelay: maxEventLoopDelayMs,
    sampleInterval: 500,
    pressureHandler: () => {
      throw new Problem(platformProblems.unavailable, { headers: { 'retry-after': '5' } });
    },
  });
}
