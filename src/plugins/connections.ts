import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server as NetServer, type Server, type Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';

/** A turn of the event loop shorter than this (milliseconds) was idle; `stopAccepting` waits for one, at most `QUIET_WAIT_MS`. */
const QUIET_TURN_MS = 1;
const QUIET_WAIT_MS = 1000;
/** How long (milliseconds) a connection without a request may still send one at the end. */
const FIRST_REQUEST_MS = 1000;

declare module 'fastify' {
  interface FastifyInstance {
    readonly connections: ReturnType<typeof trackConnections>;
  }
}

interface ConnectionsOptions {
  /** Milliseconds after which connections that are still busy are cut. */
  readonly shutdownTimeoutMs: number;
}

/** Closing the server answers running requests, and waits for them. */
export const connections = fp(
  async (app: FastifyInstance, { shutdownTimeoutMs }: ConnectionsOptions) => {
    const tracked = trackConnections(app.server);
    app.decorate('connections', tracked);
    app.addHook('preClose', async () => {
      const timer = setTimeout(() => app.server.closeAllConnections(), shutdownTimeoutMs);
      await tracked.close();
      clearTimeout(timer);
    });
  },
  { name: 'connections' },
);

/**
 * Lets a server stop without losing a request or waiting longer than needed. Node itself keeps a connection without a request until the header
 * timeout, and one whose last answer ends while the server stops until the keep-alive timeout.
 */
export function trackConnections(server: Server) {
  // The latest response on each connection, if any.
  const connections = new Map<Socket, ServerResponse | undefined>();
  let listenerClosed: Promise<void> | undefined;
  let isDraining = false;
  let answersAreLast = false;
  let closing = false;
  let accepted = 0;
  const makeLast = (socket: Socket, response: ServerResponse): void => {
    // Its head said keep-alive, so another request may be on its way: the next answer is the last.
    if (response.headersSent && !closing) return;
    // Sends `Connection: close`.
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
  });
  // Before the framework, which may answer at once from the response cache: its head must say already that the connection ends.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    connections.set(socket, response);
    if (answersAreLast) makeLast(socket, response);
  });
  /**
   * Resolves in a turn of the event loop without a new connection: closing the listener resets those that only the kernel has accepted, and Node
   * takes one in each turn. A client whose request was on such a connection cannot know whether it was carried out.
   */
  const quietTurn = async (): Promise<void> => {
    const giveUp = performance.now() + QUIET_WAIT_MS;
    // Within the callback of an event, the first comes before the event loop looks for connections.
    await immediate();
    for (;;) {
      const [before, began] = [accepted, performance.now()];
      await immediate();
      const now = performance.now();
      if ((accepted === before && now - began < QUIET_TURN_MS) || now > giveUp) return;
    }
  };
  const closeListener = async (): Promise<void> => {
    if (listenerClosed !== undefined) return;
    await quietTurn();
    // Not `close` of the HTTP server: that also resets connections whose first request was not read yet.
    listenerClosed ??= new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  };
  const makeAnswersLast = (): void => {
    answersAreLast = true;
    for (const [socket, response] of connections) {
      if (response !== undefined && !response.closed) makeLast(socket, response);
    }
  };
  return {
    /** Whether the listener is to be closed: then a balancer should move elsewhere. */
    isDraining: () => isDraining,
    beginDrain: (): void => {
      isDraining = true;
    },
    /** Closes the listener; open connections get one more answer (`Connection: close`), so that a proxy moves to another instance. */
    stopAccepting: async (): Promise<void> => {
      await closeListener();
      makeAnswersLast();
    },
    /** Stops accepting, and resolves when no connection is left. One without a request gets a moment, because one may be on its way. */
    close: async (): Promise<void> => {
      closing = true;
      makeAnswersLast();
      await closeListener();
      for (const [socket, response] of connections) {
        if (response === undefined) awaitFirst(socket);
        else if (response.closed) socket.destroy();
      }
      await listenerClosed;
    },
  };
}

/** One for all, because creating an exception with its stack for every request costs more than the signal. */
const CLOSED = new DOMException('the exchange has ended', 'AbortError');

/** Fires when an exchange has ended. Fastify's own `request.signal` fires as soon as the body has been read. */
export function requestClosedSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.request.onClosed(() => gone.abort(CLOSED));
  return gone.signal;
}

interface MinimumSpeed {
  /** 0 switches this off. */
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

/** Cuts a client that reads more slowly than this while bytes wait: a few bytes a minute keep a connection from being idle. */
export function endSlowReader(request: FastifyRequest, reply: FastifyReply, options: MinimumSpeed): void {
  const { bytesPerSecond, windowMs } = options;
  const { socket } = request.raw;
  if (bytesPerSecond === 0 || reply.raw.closed) return;
  const minimum = (bytesPerSecond * windowMs) / 1000;
  // Bytes that Node has handed to the operating system.
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  let before = taken();
  const timer = setInterval(() => {
    const now = taken();
    if (socket.writableLength > 0 && now - before < minimum) {
      request.log.warn({ bytes: now - before, windowMs }, 'a client read an answer too slowly; its connection is cut');
      socket.destroy();
    }
    before = now;
  }, windowMs);
  request.onClosed(() => clearInterval(timer));
}
