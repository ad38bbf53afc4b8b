import type { Authority } from '../../src/lib/authority/authority.ts';
import type { startTokens } from '../../test/support/tokens.ts';

/** Environment of a data exchange server without rate limits. */
export function gegevensEnv(authority: Authority, tokens: Awaited<ReturnType<typeof startTokens>>) {
  return {
    ...tokens.env,
    PORT: '0',
    MANAGEMENT_PORT: '0',
    LOG_LEVEL: 'error',
    NODE_ENV: 'test',
    'server.overloadEventLoopDelayMs': '0',
    GEGEVENS_TRUST_ANCHORS: authority.root,
    GEGEVENS_SIGNING_KEY: authority.supplier.key,
    GEGEVENS_SIGNING_CHAIN: authority.supplier.chain,
    GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
    GEGEVENS_RATE_LIMIT: '0',
  };
}
