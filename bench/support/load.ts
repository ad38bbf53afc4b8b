/** Load on one address over many connections, from its own process. */
import { startChild } from './children.ts';
import type { Load as RawLoad } from './raw-client.ts';

export interface Loader extends AsyncDisposable {
  /**
   * Answers per second.
   * @throws {Error} on unexpected answers
   */
  rate(url: string, load: Load): Promise<number>;
}

export interface Load {
  readonly connections: number;
  readonly seconds: number;
  /** The status that every answer must have. */
  readonly status: number;
  readonly headers?: Record<string, string>;
}

export async function createLoader(): Promise<Loader> {
  const child = await startChild(new URL('load-process.ts', import.meta.url));
  return {
    async rate(url, { connections, seconds, status, headers = {} }) {
      const size = { connections, warmUpMs: 200, measureMs: seconds * 1000 };
      const ask: RawLoad = {
        url,
        method: 'GET',
        ...size,
        headers,
        idempotencyKeys: false,
        bodies: [],
        expectStatus: status,
      };
      return Number(Object(await child.ask(ask)).perSecond);
    },
    [Symbol.asyncDispose]: child.stop,
  };
}
