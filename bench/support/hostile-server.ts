/** The whole service, as in production, in a process whose heap size the drill sets. */
import process from 'node:process';
import { createLogger } from '../../src/lib/log.ts';
import { serve } from '../../src/serve.ts';
import { readTestConfig } from '../../test/support/overrides.ts';
import { cpuMs, serveParent } from './children.ts';

const service = await serve({ config: readTestConfig(process.env, 'serve'), log: createLogger('fatal') });
let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 100).unref();

await serveParent(async () => {
  const peakRssMb = peak / 1024 / 1024;
  peak = 0;
  return { url: service.url, managementUrl: service.managementUrl, cpuMs: cpuMs(), peakRssMb };
}, service.stop);
