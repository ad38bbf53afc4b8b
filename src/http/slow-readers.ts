import type { FastifyReply, FastifyRequest } from 'fastify';

export interface LeastSpeed {
  /** 0 ends nobody. */
  readonly bytesPerSecond: number;
  /** Milliseconds over which the speed is measured. */
  readonly windowMs: number;
}

/**
 * Ends the connection of a reader that takes an answer more slowly than the least speed, from now until the answer has been sent. The
 * limit on idle connections does not: a few bytes a minute keep a connection from being idle. Time in which nothing waits to be taken
 * is not the reader's.
 */
export function endSlowReader(request: FastifyRequest, reply: FastifyReply, options: LeastSpeed): void {
  const { bytesPerSecond, windowMs } = options;
  const { socket } = request.raw;
  if (bytesPerSecond === 0 || reply.raw.closed) return;
  const least = (bytesPerSecond * windowMs) / 1000;
  // What Node has handed to the operating system; both count what still waits in Node.
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  let before = taken();
  const timer = setInterval(() => {
    const now = taken();
    if (socket.writableLength > 0 && now - before < least) {
      request.log.warn(
        { bytes: now - before, windowMs },
        'a reader took an answer too slowly; its connection is ended',
      );
      socket.destroy();
    }
    before = now;
  }, windowMs);
  reply.raw.once('close', () => clearInterval(timer));
}
