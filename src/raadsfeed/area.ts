import type { Area } from '../http/area.ts';
import { createContract } from '../http/contract.ts';
import { mount } from '../http/mount.ts';
import { readOpenapi } from '../http/openapi-document.ts';
import { openToOrigins } from '../http/security-headers.ts';
import type { Platform } from '../kernel/platform.ts';
import { raadsfeedProblems } from './problems.ts';

const CONTRACT = new URL('../../openapi/raadsfeed.yaml', import.meta.url);

/** Area C: the public council feed. */
export async function createRaadsfeed(platform: Platform): Promise<Area> {
  const { prefix, rateLimit } = platform.config.raadsfeed;
  const contract = createContract(readOpenapi(CONTRACT));
  const routes: Parameters<typeof mount>[0]['routes'] = (app) => {
    openToOrigins(app);
  };
  return {
    problems: raadsfeedProblems,
    checks: [],
    close: async () => {},
    mounts: [mount({ platform, prefix, contract, rateLimit, routes })],
  };
}
