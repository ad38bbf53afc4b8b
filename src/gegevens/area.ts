import { logRequests } from '../http/access-log.ts';
import type { Area } from '../http/area.ts';
import { authenticate } from '../http/auth.ts';
import { createContract } from '../http/contract.ts';
import { mount } from '../http/mount.ts';
import { readOpenapi } from '../http/openapi-document.ts';
import type { TokenVerifier } from '../kernel/oauth/token-verifier.ts';
import type { Platform } from '../kernel/platform.ts';
import type { ProcessingLog } from '../kernel/processing-log.ts';
import { gegevensProblems } from './problems.ts';

const CONTRACT = new URL('../../openapi/gegevens.yaml', import.meta.url);

export interface GegevensNeeds {
  readonly variant: 'shv' | 'vs';
  readonly verifier: TokenVerifier;
  readonly processingLog: ProcessingLog;
}

/** Area A, one variant of it. */
export async function createGegevens(platform: Platform, { variant, verifier }: GegevensNeeds): Promise<Area> {
  const { gegevens, tokens } = platform.config;
  const prefix = variant === 'shv' ? gegevens.shvPrefix : gegevens.vsPrefix;
  const contract = createContract(readOpenapi(CONTRACT));
  const access = authenticate({
    verifier,
    service: variant === 'shv' ? gegevens.shvService : gegevens.vsService,
    clientCertificateHeader: tokens.clientCertificateHeader?.toLowerCase(),
  });
  return {
    problems: gegevensProblems,
    checks: [],
    close: async () => {},
    mounts: [
      mount({
        platform,
        prefix,
        contract,
        rateLimit: gegevens.rateLimit,
        verifier,
        routes: (app) => {
          logRequests(app);
          void access;
        },
      }),
    ],
  };
}
