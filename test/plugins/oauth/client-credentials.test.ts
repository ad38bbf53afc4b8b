import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { clientCredentialsToken, TokenFetchError } from '../../../src/lib/outbound/client-credentials.ts';

it('disconnects an authorization server with an endless answer', async () => {
  let sent = 0;
  const server = createServer((_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16 * 1024))) sent += 16 * 1024;
      response.once('drain', more);
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    more();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const tokenUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/token`;
  const token = clientCredentialsToken({ tokenUrl, clientId: 'logboek', clientSecret: 'geheim', scopes: [] });
  try {
    await expect(token()).rejects.toThrow(TokenFetchError);
    // Bytes in transit between the two are not read.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
