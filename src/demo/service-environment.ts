import type { Environment } from '../kernel/config/read-config.ts';
import type { Authority } from './authority/authority.ts';
import type { AuthorizationServer } from './authorization-server/authorization-server.ts';
import type { FscManager } from './fsc-manager.ts';

/** The audience that the demo's access tokens name. */
export const audience = 'urn:koppelvlak:demo';

/** The environment of the service in the demo. What is given wins over what the demo would choose. */
export function serviceEnvironment(
  given: Environment,
  parts: { authority: Authority; authorization: Pick<AuthorizationServer, 'issuer'>; fsc: FscManager },
): Environment {
  const { authority, authorization, fsc } = parts;
  const chosen = {
    OAUTH_ISSUER: authorization.issuer,
    OAUTH_AUDIENCE: audience,
    OAUTH_CLIENT_OINS: `statistiek=${authority.requester.oin}`,
    FSC_TOKEN_CERTIFICATES: fsc.certificate,
    FSC_GROUP_ID: fsc.groupId,
    FSC_PEER_ID: fsc.peerId,
    FSC_AUDIENCE: fsc.audience,
    GEGEVENS_TRUST_ANCHORS: authority.root,
    ...(hasValue(given.GEGEVENS_SIGNING_P12)
      ? {}
      : { GEGEVENS_SIGNING_KEY: authority.supplier.key, GEGEVENS_SIGNING_CHAIN: authority.supplier.chain }),
    // The authority answers on loopback.
    GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
    GEGEVENS_SUPPLIER_CODE: 'VOORBEELD',
    // Nobody stands in front of it who must be told.
    SHUTDOWN_DRAIN_MS: '0',
    GEGEVENS_RATE_LIMIT: '0',
    VERWERKINGENLOG_RATE_LIMIT: '0',
    RAADSFEED_RATE_LIMIT: '0',
    RAADSFEED_CONTACT: 'mailto:raadsfeed@voorbeeld.example',
    RAADSFEED_LICENTIE: 'https://creativecommons.org/publicdomain/zero/1.0/',
  };
  return { ...chosen, ...Object.fromEntries(Object.entries(given).filter(([, value]) => hasValue(value))) };
}

function hasValue(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
