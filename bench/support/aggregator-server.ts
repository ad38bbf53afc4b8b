/** An aggregator as in production, in its own process. */
import process from 'node:process';
import { createLogger } from '../../src/lib/log.ts';
import { serve } from '../../src/serve.ts';
import { readTestConfig } from '../../test/support/overrides.ts';
import { cpuMs, serveParent } from './children.ts';

const env = {
  AREAS: 'raadsfeed',
  RAADSFEED_ROL: 'aggregator',
  AGGREGATOR_ALLOW_PRIVATE: 'true',
  RAADSFEED_RATE_LIMIT: '0',
  PORT: '0',
  MANAGEMENT_PORT: '0',
  ...process.env,
};
const service = await serve({ config: readTestConfig(env, 'serve'), log: createLogger('error') });

/** `maxRSS` is the process's peak memory. */
const peakMb = (): number => process.resourceUsage().maxRSS / 1024;

await serveParent(async () => ({ url: service.url, cpuMs: cpuMs(), peakMb: peakMb(), pid: process.pid }), service.stop);
