/** Floor: a bare server that writes the same bytes from one buffer. */
import { createServer, type Server } from 'node:http';
import { cpuMs, serveParent } from '../support/children.ts';
import { listen } from '../support/listen.ts';

let server: Server | undefined;

await serveParent(
  async (message) => {
    const { body, status, headers } = Object(message);
    if (body === undefined) return { cpuMs: cpuMs() };
    const bytes = Buffer.from(String(body), 'base64');
    server?.close();
    server?.closeAllConnections();
    server = createServer((_request, response) => {
      response.writeHead(status, headers);
      response.end(status === 304 ? undefined : bytes);
    });
    return { url: `${await listen(server)}/` };
  },
  async () => {
    server?.closeAllConnections();
  },
);
