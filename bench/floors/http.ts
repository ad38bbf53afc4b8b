/** A server that does nothing: takes what comes and answers the same small text. What an attack costs here, the machine pays. */
import { createServer } from 'node:http';
import { cpuMs, serveParent } from '../support/children.ts';

const TEXT = JSON.stringify({ inhoud: 'x'.repeat(2000) });

const server = createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
  request.resume();
  request.once('end', () => response.end(TEXT));
});
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;

await serveParent(
  async () => ({ url, cpuMs: cpuMs() }),
  async () => {
    server.close();
    server.closeAllConnections();
  },
);
