/** Floor: a bare server that writes one event to every open stream on request. */
import { createServer, type ServerResponse } from 'node:http';
import { serveParent } from '../support/children.ts';
import { listen } from '../support/listen.ts';

const streams = new Set<ServerResponse>();
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('retry: 3000\n\n');
  streams.add(response);
  response.on('close', () => streams.delete(response));
});
const url = `${await listen(server, 4096)}/`;

await serveParent(
  async (message) => {
    const { event } = Object(message);
    const at = performance.timeOrigin + performance.now();
    const bytes = Buffer.from(String(event ?? ''));
    if (bytes.length > 0) for (const stream of streams) stream.write(bytes);
    return { at, url };
  },
  async () => server.closeAllConnections(),
);
