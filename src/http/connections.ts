import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

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
  const makeLast = (socket: Socket, response: ServerResponse): void => {
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
  return {
    drain,
    close: () => {
      drain();
      closed = true;
      return new Promise((resolve) => {
        // After this turn's connections have been taken: what the kernel has accepted and we have not would be reset.
        setImmediate(() => {
          server.close(() => resolve());
          for (const [socket, response] of connections) if (response === undefined) awaitFirst(socket);
        });
      });
    },
  };
}
