import type { FastifyReply } from 'fastify';

/**
 * Fires when the exchange is over: the client went away, or its deadline passed and it has had an error. Fastify's own
 * `request.signal` fires as soon as the request's body has been read.
 */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (reply.raw.destroyed) gone.abort();
  else reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
