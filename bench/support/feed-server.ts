/** A server with only the feed, as in production but without a limit per client. */
import process from 'node:process';
import { createLogger } from '../../src/lib/log.ts';
import { serve } from '../../src/serve.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { cpuMs, serveParent } from './children.ts';

const env = {
  ...process.env,
  NODE_ENV: 'test',
  AREAS: 'raadsfeed',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  RAADSFEED_RATE_LIMIT: process.env.RAADSFEED_RATE_LIMIT ?? '0',
  // All streams of the bench come from one address; more than it opens, for those of the round before may not have ended yet.
  RAADSFEED_STREAM_MAX_PER_ADDRESS: process.env.RAADSFEED_STREAM_MAX_PER_ADDRESS ?? '0',
  RAADSFEED_STREAM_MAX: process.env.RAADSFEED_STREAM_MAX ?? '20000',
};
const service = await serve({ config: readConfig(env, 'serve'), log: createLogger('error') });

await serveParent(async () => ({ url: service.url, cpuMs: cpuMs() }), service.stop);
