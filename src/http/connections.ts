import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/**
 * Makes a server able to stop at once when nothing is running. Node leaves two kinds of connection open then: one on which no
 * request has come yet (a browser that connected ahead), until its header timeout; and one whose last answer ends while
 * the server is stopping, until its keep-alive timeout. Call the function that is returned when stopping begins.
 */
export function trackConnections(server: Server): () => void {
  const unused = new Set<Socket>();
  const answering = new Set<ServerResponse>();
  let stopping = false;
  server.on('connection', (socket: Socket) => {
    if (stopping) {
      socket.destroy();
      return;
    }
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    unused.delete(socket);
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      if (stopping) socket.destroySoon();
    });
  });
  return () => {
    stopping = true;
    for (const socket of unused) socket.destroy();
    // Says `Connection: close`, so that the client does not send its next request on it.
    for (const response of answering) response.shouldKeepAlive = false;
  };
}
