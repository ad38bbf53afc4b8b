import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { clientAddress } from './client-address.ts';
import { platformProblems } from './problems.ts';
import { RateCounter } from './rate-counter.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What counts the calls of the mount; absent where nothing is limited. */
    rateCounter?: RateCounter;
  }
}

const WINDOW_MS = 60_000;

/** Counts the requests per minute of each client of a mount; 0 limits nothing. */
export function createRateCounter(perMinute: number): RateCounter | undefined {
  return perMinute === 0 ? undefined : new RateCounter(perMinute, WINDOW_MS);
}

/**
 * Limits what one client may ask of a mount. A call of a route that anybody may call, or of none, counts under its address before any
 * work is done. One that needs a token is counted by `authenticate`: under the token's subject, or under the address when the token is
 * refused. So nobody uses up the room of somebody else behind the same proxy.
 */
export function limitRate(app: FastifyInstance, counter: RateCounter | undefined): void {
  if (counter === undefined) return;
  app.addHook('onRequest', (request, reply, done) => {
    request.rateCounter = counter;
    if (request.is404 || request.routeOptions.config.public === true) countAddress(request, reply);
    done();
  });
}

/**
 * Counts a call without a valid token under the address that it came from.
 * @throws {Problem} `rate-limit` when that has had its share of the minute
 */
export function countAddress(request: FastifyRequest, reply: FastifyReply): void {
  if (request.rateCounter !== undefined) count(request.rateCounter, `address ${clientAddress(request)}`, reply);
}

/**
 * Counts a call under the subject of its verified token.
 * @throws {Problem} `rate-limit` when that has had its share of the minute
 */
export function countSubject(request: FastifyRequest, reply: FastifyReply, subject: string): void {
  if (request.rateCounter !== undefined) count(request.rateCounter, `subject ${subject}`, reply);
}

function count(counter: RateCounter, key: string, reply: FastifyReply): void {
  const { current, ttl } = counter.hit(key);
  const seconds = String(Math.ceil(ttl / 1000));
  reply.headers({
    'x-ratelimit-limit': String(counter.max),
    'x-ratelimit-remaining': String(Math.max(0, counter.max - current)),
    'x-ratelimit-reset': seconds,
  });
  if (current > counter.max) throw new Problem(platformProblems.rateLimit, { headers: { 'retry-after': seconds } });
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
