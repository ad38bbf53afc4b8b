/** What settings that are well formed each cannot be together, or lack. */
import { accessSync, constants, statSync } from 'node:fs';
import { builtInModel } from './gegevens-settings.ts';
import type { Config, ConfigFault, Fault } from './read-config.ts';

/**
 * What the mounted areas need and do not have, and what cannot be together.
 * @param mounts paths at which the extensions serve
 */
export function contradictions(config: Config, mounts: readonly string[], fault: Fault): void {
  const { server, security, database, tokens, gegevens, verwerkingenlog } = config;
  const servesGegevens = server.areas.includes('shv') || server.areas.includes('vs');
  const needsTokens = servesGegevens || server.areas.includes('verwerkingenlog');

  if (server.environment === 'production' && database.url === undefined) {
    fault(
      ['DATABASE_URL', 'NODE_ENV'],
      'is missing',
      'a Postgres address; the embedded one is not meant for production',
    );
  }
  if (security.contact.length > 0 && security.expires === undefined) {
    fault(['SECURITY_EXPIRES', 'SECURITY_CONTACT'], 'is missing', 'until when `security.txt` may be relied on');
  }
  if (database.pooler === 'transaction' && database.url === undefined) {
    fault(
      ['DATABASE_POOLER', 'DATABASE_URL'],
      'is `transaction` without a pooler',
      '`none`, or DATABASE_URL of the pooler',
    );
  }
  if (database.pooler === 'transaction' && database.migrate && database.migrationUrl === undefined) {
    fault(
      ['DATABASE_MIGRATION_URL', 'DATABASE_POOLER', 'DATABASE_MIGRATE'],
      'is missing',
      'a direct address for migrations beside the pooler, or DATABASE_MIGRATE=false',
    );
  }
  if (needsTokens && tokens.oauthIssuer === undefined && tokens.fscCertificates === undefined) {
    fault(
      ['OAUTH_ISSUER', 'FSC_TOKEN_CERTIFICATES'],
      'is missing',
      'OAUTH_ISSUER, FSC_TOKEN_CERTIFICATES or both, for the areas in AREAS that need a token',
    );
  }
  if (server.environment === 'production' && needsTokens && verwerkingenlog.key === undefined) {
    fault(
      ['VERWERKINGENLOG_KEY', 'NODE_ENV'],
      'is missing',
      'keys for the processing log, as `name:base64 of 32 bytes`; in production no identifier of a person is kept as it comes',
    );
  }
  if (server.environment === 'production') {
    const keyAddresses = {
      OAUTH_ISSUER: tokens.oauthIssuer,
      OAUTH_JWKS_URL: tokens.oauthJwksUrl,
      FSC_TOKEN_CERTIFICATES: tokens.fscCertificates,
    };
    for (const [variable, value] of Object.entries(keyAddresses)) {
      if (needsTokens && /^http:/i.test(value ?? '')) {
        fault(
          [variable, 'NODE_ENV'],
          'is an address with `http:`',
          'one with `https:`; in production the keys of an issuer come over TLS only; otherwise anyone on the network path can forge tokens',
        );
      }
    }
    if (servesGegevens && gegevens.revocationAllowPrivate) {
      fault(
        ['GEGEVENS_REVOCATION_ALLOW_PRIVATE', 'NODE_ENV'],
        'is `true`',
        '`false` in production: else the certificate in a request can have internal addresses called',
      );
    }
  }
  const keyNames = verwerkingenlog.key?.split(',').map((key) => key.split(':', 1)[0]) ?? [];
  if (new Set(keyNames).size < keyNames.length) {
    fault(['VERWERKINGENLOG_KEY'], 'names two keys alike', 'a name of its own for every key');
  }
  if (tokens.oauthIssuer !== undefined && tokens.oauthAudience === undefined) {
    fault(['OAUTH_AUDIENCE', 'OAUTH_ISSUER'], 'is missing', 'the audience that tokens of OAUTH_ISSUER name');
  }
  if (tokens.fscCertificates !== undefined) {
    const claims = { FSC_GROUP_ID: tokens.fscGroupId, FSC_AUDIENCE: tokens.fscAudience, FSC_PEER_ID: tokens.fscPeerId };
    for (const [variable, value] of Object.entries(claims)) {
      if (value === undefined || value.length === 0)
        fault([variable, 'FSC_TOKEN_CERTIFICATES'], 'is missing', 'what FSC tokens must name');
    }
  }
  if (servesGegevens) {
    if (gegevens.trustAnchors === undefined) {
      fault(['GEGEVENS_TRUST_ANCHORS', 'AREAS'], 'is missing', 'path of a PEM bundle, for shv and vs in AREAS');
    }
    const bindsSigners = tokens.oauthOinClaim !== undefined || tokens.oauthClientOins.size > 0;
    if (server.environment === 'production' && !bindsSigners && gegevens.allowedSigners.length === 0) {
      fault(
        ['OAUTH_CLIENT_OINS', 'OAUTH_OIN_CLAIM', 'GEGEVENS_ALLOWED_SIGNERS', 'NODE_ENV'],
        'is missing, and so are OAUTH_OIN_CLAIM and GEGEVENS_ALLOWED_SIGNERS',
        'one of the three: else every holder of a token may ask with anybody’s signed request',
      );
    }
    const pem = gegevens.signingKey !== undefined || gegevens.signingChain !== undefined;
    const both = gegevens.signingKey !== undefined && gegevens.signingChain !== undefined;
    const names = ['GEGEVENS_SIGNING_KEY', 'GEGEVENS_SIGNING_CHAIN', 'GEGEVENS_SIGNING_P12'] as const;
    if (pem && gegevens.signingP12 !== undefined) fault(names, 'stands beside GEGEVENS_SIGNING_P12', 'one of the two');
    else if (!both && gegevens.signingP12 === undefined) {
      fault(names, 'is missing', 'GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN, or GEGEVENS_SIGNING_P12');
    }
  }
  const prefixes = [
    gegevens.shvPrefix,
    gegevens.vsPrefix,
    config.verwerkingenlog.prefix,
    config.raadsfeed.prefix,
    ...mounts,
  ];
  const nested = prefixes.some((a, i) => prefixes.some((b, j) => i !== j && (a === b || a.startsWith(`${b}/`))));
  if (nested) {
    fault(
      ['GEGEVENS_SHV_PREFIX', 'GEGEVENS_VS_PREFIX', 'VERWERKINGENLOG_PREFIX', 'LDV_PREFIX', 'RAADSFEED_PREFIX'],
      'overlaps with another mount',
      'five paths, none inside another, and none at or below `/raad`, `/inzage` or `/woo` when those are on',
    );
  }
}

/** Settings that name a file which cannot be read: found before anything is opened, and all of them together. */
export function unreadableFiles({ gegevens, html, tokens }: Config): ConfigFault[] {
  const files = {
    PAGES_THEME_CSS: html.themeCss,
    GEGEVENS_TRUST_ANCHORS: gegevens.trustAnchors,
    GEGEVENS_SIGNING_KEY: gegevens.signingKey,
    GEGEVENS_SIGNING_CHAIN: gegevens.signingChain,
    GEGEVENS_SIGNING_P12: gegevens.signingP12,
    GEGEVENS_TRANSPORT_CERTIFICATE: gegevens.transportCertificate,
    GEGEVENS_SHV_MODEL: builtInModel('shv', gegevens.shvModel) === undefined ? gegevens.shvModel : undefined,
    GEGEVENS_VS_MODEL: builtInModel('vs', gegevens.vsModel) === undefined ? gegevens.vsModel : undefined,
    FSC_TOKEN_CERTIFICATES: /^https?:\/\//i.test(tokens.fscCertificates ?? '') ? undefined : tokens.fscCertificates,
  };
  return Object.entries(files)
    .filter(([, path]) => path !== undefined && !isReadable(path))
    .map(([variable]) => ({ variable, wrong: 'names no readable file', allowed: 'path of a file' }));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
