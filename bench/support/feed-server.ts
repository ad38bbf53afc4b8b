/** A server with only the feed, as in production but without a per-client limit. */
import process from 'node:process';
import { createLogger } from '../../src/lib/log.ts';
import { serve } from '../../src/serve.ts';
import { readTestConfig } from '../../test/support/overrides.ts';
import { cpuMs, serveParent } from './children.ts';

const env = {
  ...process.env,
  NODE_ENV: 'test',
  AREAS: 'raadsfeed',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  RAADSFEED_RATE_LIMIT: process.env.RAADSFEED_RATE_LIMIT ?? '0',
  // All streams of the benchmark come from one address. The limit exceeds their number, because those of the previous
  // round may still be closing.
  'raadsfeed.streamMaxPerAddress': process.env['raadsfeed.streamMaxPerAddress'] ?? '0',
  'raadsfeed.streamMax': process.env['raadsfeed.streamMax'] ?? '20000',
};
const service = await serve({ config: readTestConfig(env, 'serve'), log: createLogger('error') });

await serveParent(async () => ({ url: service.url, cpuMs: cpuMs() }), service.stop);
