import { once } from 'node:events';
import type { Server } from 'node:http';

/**
 * Listens on a free port of this machine.
 * @returns the address, without a path
 */
export async function listen(server: Server, backlog = 511): Promise<string> {
  server.listen(0, '127.0.0.1', backlog);
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}
