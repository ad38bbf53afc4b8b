import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http';

export async function listenOnLoopback(port: number, options: ServerOptions = {}) {
  const server = createServer(options).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the server has no port');
  return {
    server,
    port: bound.port,
    address: `http://127.0.0.1:${bound.port}`,
    async close() {
      if (!server.listening) return;
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}
