import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { isRecord } from '../../src/lib/json/json-value.ts';

/** Below Linux's ephemeral ports, one of which another process might take before the test does; above 10080, which `fetch` refuses. */
const [LOWEST, HIGHEST] = [11_000, 32_000] as const;

/** A loopback port without a listener. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (isRecord(error) && error.code === 'EADDRINUSE') continue;
      throw error;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
