import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/**
 * Makes a server able to stop at once when nothing is running. Node leaves two kinds of connection open then: one on which no
 * request has come yet (a browser that connected ahead), until its header timeout; and one whose last answer ends while
 * the server is stopping, until its keep-alive timeout. Call the function that is returned when stopping begins.
 */
export function trackConnections(server: Server): () => void {
  // The last answer on each connection, if any: before it is finished nothing else goes out there.
  const connections = new Map<Socket, ServerResponse | undefined>();
  let stopping = false;
  const makeLast = (socket: Socket, response: ServerResponse): void => {
    // Says `Connection: close`, so that the client does not send its next request on it.
    response.shouldKeepAlive = false;
    response.once('close', () => {
      if (connections.get(socket) === response) socket.destroySoon();
    });
  };
  server.on('connection', (socket: Socket) => {
    if (stopping) {
      socket.destroy();
      return;
    }
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    connections.set(socket, response);
    if (stopping) makeLast(socket, response);
  });
  return () => {
    stopping = true;
    for (const [socket, response] of connections) {
      if (response === undefined) socket.destroy();
      else if (!response.closed) makeLast(socket, response);
    }
  };
}
