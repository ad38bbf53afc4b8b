import type { FastifyReply } from 'fastify';

/**
 * Fires when an exchange has ended: its answer was sent, by whoever looks after it or by the deadline, or the client went away.
 * Fastify's own `request.signal` fires as soon as the request's body has been read.
 */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const { raw } = reply;
  if (raw.destroyed) gone.abort();
  else raw.once('close', () => gone.abort());
  return gone.signal;
}
