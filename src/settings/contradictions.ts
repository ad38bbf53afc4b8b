/** What settings that are well formed each cannot be together, or lack. */
import { readFileSync } from 'node:fs';
import { builtInModel } from '../gegevens/settings.ts';
import type { Config, ConfigFault, Fault } from './read-config.ts';
import { whyUnreadable } from './readable-file.ts';

/** What the mounted areas need and do not have, and what cannot be together. */
export function contradictions({ server, database, tokens, gegevens, verwerkingenlog }: Config, fault: Fault): void {
  const servesGegevens = server.areas.includes('shv') || server.areas.includes('vs');
  const needsTokens = servesGegevens || server.areas.includes('verwerkingenlog');

  if (server.environment === 'production' && database.url === undefined) {
    fault(
      ['DATABASE_URL', 'NODE_ENV'],
      'is missing',
      'a Postgres address; the embedded one is not meant for production',
    );
  }
  if (server.environment === 'production' && server.publicBaseUrl === undefined)
    fault(
      ['PUBLIC_BASE_URL', 'NODE_ENV'],
      'is missing',
      'the address that clients see; links in answers begin with it',
    );
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
    // A token of FSC names its peer, who must be the signer: only a client of OAuth needs more.
    const isBound =
      tokens.oauthIssuer === undefined || tokens.oauthOinClaim !== undefined || tokens.oauthClientOins.size > 0;
    if (server.environment === 'production' && !isBound && gegevens.allowedSigners.length === 0) {
      fault(
        ['OAUTH_CLIENT_OINS', 'OAUTH_OIN_CLAIM', 'GEGEVENS_ALLOWED_SIGNERS', 'NODE_ENV'],
        'is missing, and so are OAUTH_OIN_CLAIM and GEGEVENS_ALLOWED_SIGNERS',
        'one of the three: else every holder of a token may ask with anybody’s signed request',
      );
    }
    const { signingKey, signingChain } = gegevens;
    const allowed = 'GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN, or a PKCS#12 file in GEGEVENS_SIGNING_KEY alone';
    if (signingKey === undefined) fault(['GEGEVENS_SIGNING_KEY', 'GEGEVENS_SIGNING_CHAIN'], 'is missing', allowed);
    else if (signingChain === undefined && isReadable(signingKey) && isPem(signingKey))
      fault(['GEGEVENS_SIGNING_CHAIN', 'GEGEVENS_SIGNING_KEY'], 'is missing', allowed);
  }
}

/** Settings that name a file which cannot be read: found before anything is opened, and all of them together. */
export function unreadableFiles({ gegevens, html, server, tokens }: Config): ConfigFault[] {
  const files = {
    SECURITY_TXT: server.securityTxt,
    PAGES_THEME_CSS: html.themeCss,
    ...(server.areas.includes('shv') || server.areas.includes('vs') ? filesOfGegevens(gegevens) : {}),
    FSC_TOKEN_CERTIFICATES: /^https?:\/\//i.test(tokens.fscCertificates ?? '') ? undefined : tokens.fscCertificates,
  };
  return Object.entries(files).flatMap(([variable, path]) => {
    const reason = path === undefined ? undefined : whyUnreadable(path);
    return reason === undefined ? [] : [{ variable, wrong: `names ${reason}`, allowed: 'path of a file' }];
  });
}

function filesOfGegevens(gegevens: Config['gegevens']): Record<string, string | undefined> {
  return {
    GEGEVENS_TRUST_ANCHORS: gegevens.trustAnchors,
    GEGEVENS_SIGNING_KEY: gegevens.signingKey,
    GEGEVENS_SIGNING_CHAIN: gegevens.signingChain,
    GEGEVENS_SHV_MODEL: builtInModel('shv', gegevens.shvModel) === undefined ? gegevens.shvModel : undefined,
    GEGEVENS_VS_MODEL: builtInModel('vs', gegevens.vsModel) === undefined ? gegevens.vsModel : undefined,
  };
}

function isPem(path: string): boolean {
  return readFileSync(path, 'latin1').includes('-----BEGIN');
}

const isReadable = (path: string): boolean => whyUnreadable(path) === undefined;
