/** Load of single actions on a server with the processing log. */
import type { Load } from './raw-client.ts';
import { sampleActies } from './sample-actie.ts';

/** Environment of a server that accepts any load. */
export const LOG_ENV = {
  VERWERKINGENLOG_KEY: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
  NODE_ENV: 'test',
  'server.overloadEventLoopDelayMs': '0',
} as const;

const bodies = sampleActies(2000);

export function appendLoad(
  url: string,
  authorization: string,
  size: Pick<Load, 'connections' | 'measureMs'> & { readonly warmUpMs?: number },
): Load {
  return {
    url: `${url}/verwerkingenlog/v1/verwerkingsacties`,
    method: 'POST',
    warmUpMs: 500,
    ...size,
    headers: { authorization },
    idempotencyKeys: true,
    bodies,
    expectStatus: 201,
  };
}
