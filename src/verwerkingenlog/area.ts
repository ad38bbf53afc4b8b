import { logRequests } from '../http/access-log.ts';
import type { Area } from '../http/area.ts';
import { authenticate } from '../http/auth.ts';
import { createContract } from '../http/contract.ts';
import { mount } from '../http/mount.ts';
import { readOpenapi } from '../http/openapi-document.ts';
import type { TokenVerifier } from '../kernel/oauth/token-verifier.ts';
import type { Platform } from '../kernel/platform.ts';
import type { ProcessingLog } from '../kernel/processing-log.ts';
import { verwerkingenlogProblems } from './problems.ts';

const CONTRACT = new URL('../../openapi/verwerkingenlog.yaml', import.meta.url);

export interface VerwerkingenlogNeeds {
  readonly verifier: TokenVerifier;
  readonly processingLog: ProcessingLog;
}

/** Area B: the processing log. */
export async function createVerwerkingenlog(platform: Platform, { verifier }: VerwerkingenlogNeeds): Promise<Area> {
  const { prefix, rateLimit } = platform.config.verwerkingenlog;
  const contract = createContract(readOpenapi(CONTRACT));
  const access = authenticate({ verifier });
  return {
    problems: verwerkingenlogProblems,
    checks: [],
    close: async () => {},
    mounts: [
      mount({
        platform,
        prefix,
        contract,
        rateLimit,
        verifier,
        routes: (app) => {
          logRequests(app);
          void access;
        },
      }),
    ],
  };
}
