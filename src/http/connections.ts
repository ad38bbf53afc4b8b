import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A turn of the event loop that takes less, in milliseconds, had next to nothing to do; such a one is waited for at most so long. */
const QUIET_TURN_MS = 1;
const QUIET_WAIT_MS = 1000;
/** Time in milliseconds that a connection which has asked nothing yet may take to ask, once nothing new is taken. */
const FIRST_REQUEST_MS = 1000;

/** The connections of a server while it stops. */
export interface Connections {
  /**
   * From now on every answer is the last of its connection and says so, while new connections are still taken: a proxy that keeps its
   * connections moves to another instance without losing a request.
   */
  readonly drain: () => void;
  /**
   * Takes nothing new. What runs is answered; a connection that is kept but idle is closed; one that has asked nothing yet gets a moment,
   * for its request may be on its way. Resolves when no connection is left.
   */
  readonly close: () => Promise<void>;
}

/**
 * Makes a server able to stop without losing a request, and without waiting for what will not come. Node by itself leaves two kinds of
 * connection open: one on which no request has come yet (a browser that connected ahead), until its header timeout; and one whose last
 * answer ends while the server is stopping, until its keep-alive timeout.
 */
export function trackConnections(server: Server): Connections {
  // The last answer on each connection, if any: before it is finished nothing else goes out there.
  const connections = new Map<Socket, ServerResponse | undefined>();
  let draining = false;
  let closed = false;
  let accepted = 0;
  const makeLast = (socket: Socket, response: ServerResponse): void => {
    // Who was told already that the connection is kept may be sending on it: the next answer is its last.
    if (response.headersSent && !closed) return;
    // Says `Connection: close`, so that the client does not send its next request on it.
    response.shouldKeepAlive = false;
    response.once('close', () => {
      if (connections.get(socket) === response) socket.destroySoon();
    });
  };
  const awaitFirst = (socket: Socket): void => {
    setTimeout(() => {
      if (connections.get(socket) === undefined) socket.destroy();
    }, FIRST_REQUEST_MS).unref();
  };
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
    if (closed) awaitFirst(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    connections.set(socket, response);
    if (draining) makeLast(socket, response);
  });
  const drain = (): void => {
    if (draining) return;
    draining = true;
    for (const [socket, response] of connections) {
      if (response !== undefined && !response.closed) makeLast(socket, response);
    }
  };
  /**
   * Resolves in a turn in which no connection came. Those that the kernel has accepted and we have not are reset by closing, one is taken
   * in each turn, and a client that has sent its request there cannot know whether it was carried out.
   */
  const quietTurn = async (): Promise<void> => {
    const giveUp = performance.now() + QUIET_WAIT_MS;
    for (;;) {
      const [before, began] = [accepted, performance.now()];
      await immediate();
      const now = performance.now();
      if ((accepted === before && now - began < QUIET_TURN_MS) || now > giveUp) return;
    }
  };
  return {
    drain,
    close: async () => {
      drain();
      await quietTurn();
      closed = true;
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const [socket, response] of connections) {
        if (response === undefined) awaitFirst(socket);
        else if (!response.closed) makeLast(socket, response);
      }
      await ended;
    },
  };
}

/**
 * Fires when an exchange has ended: its answer was sent, by whoever looks after it or by the deadline, or the client went away.
 * Fastify's own `request.signal` fires as soon as the request's body has been read.
 */
export function requestClosedSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const { raw } = reply;
  if (raw.destroyed) gone.abort();
  else raw.once('close', () => gone.abort());
  return gone.signal;
}

interface LeastSpeed {
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
