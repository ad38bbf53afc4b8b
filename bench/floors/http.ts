/**
 * A server that does nothing: accepts any request and gives one small text. The cost of an attack here is the cost to
 * the machine.
 */
import { createServer } from 'node:http';
import { cpuMs, serveParent } from '../support/children.ts';
import { listen } from '../support/listen.ts';

const TEXT = JSON.stringify({ inhoud: 'x'.repeat(2000) });

const server = createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
  request.resume();
  request.once('end', () => response.end(TEXT));
});
const url = await listen(server);

await serveParent(
  async () => ({ url, cpuMs: cpuMs() }),
  async () => {
    server.close();
    server.closeAllConnections();
  },
);
