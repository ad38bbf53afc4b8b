/** Contradictions between well-formed settings, and missing ones. */
import { readFileSync } from 'node:fs';
import { builtInModel } from '../lib/exchange-model/built-in-models.ts';
import type { Config, ConfigFault, Fault } from './config.ts';
import { whyUnreadable } from './readable-file.ts';

export function contradictions(config: Config, fault: Fault): void {
  for (const check of [interfaces, ldv, inzage, aggregator, proof, tracing]) check(config, fault);
}

type Values = Readonly<Record<string, unknown>>;

/** Adds a fault for each of these variables that is absent. @param needing the variable that needs them */
function requireAll(values: Values, needing: string, allowed: string, fault: Fault): void {
  for (const [variable, value] of Object.entries(values)) {
    if (value === undefined) fault([variable, needing], 'is missing', allowed);
  }
}

/** Adds a fault for each of these addresses that has no encryption in production. */
function requireTls({ server }: Config, addresses: Values, allowed: string, fault: Fault): void {
  for (const [variable, address] of Object.entries(addresses)) {
    if (server.environment === 'production' && /^http:/i.test(String(address)))
      fault([variable, 'NODE_ENV'], 'is an address with `http:`', allowed);
  }
}

function interfaces(config: Config, fault: Fault): void {
  const { server, database, tokens, gegevens, verwerkingenlog } = config;
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
      'keys for the processing log, as `name:base64 of 32 bytes`',
    );
  }
  if (needsTokens) {
    const keyAddresses = {
      OAUTH_ISSUER: tokens.oauthIssuer,
      OAUTH_JWKS_URL: tokens.oauthJwksUrl,
      FSC_TOKEN_CERTIFICATES: tokens.fscCertificates,
    };
    const allowed =
      'one with `https:`; in production the keys of an issuer come over TLS only; otherwise anyone on the network path can forge tokens';
    requireTls(config, keyAddresses, allowed, fault);
  }
  if (server.environment === 'production' && servesGegevens && gegevens.revocationAllowPrivate) {
    fault(
      ['GEGEVENS_REVOCATION_ALLOW_PRIVATE', 'NODE_ENV'],
      'is `true`',
      '`false` in production: otherwise the certificate in a request can cause calls to internal addresses',
    );
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
        'one of the three: otherwise any holder of a token may use anybody’s signed request',
      );
    }
    const { signingKey, signingChain } = gegevens;
    const allowed = 'GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN, or a PKCS#12 file in GEGEVENS_SIGNING_KEY alone';
    if (signingKey === undefined) fault(['GEGEVENS_SIGNING_KEY', 'GEGEVENS_SIGNING_CHAIN'], 'is missing', allowed);
    else if (signingChain === undefined && isReadable(signingKey) && isPem(signingKey))
      fault(['GEGEVENS_SIGNING_CHAIN', 'GEGEVENS_SIGNING_KEY'], 'is missing', allowed);
  }
}

function ldv(config: Config, fault: Fault): void {
  const { forwardUrl, forwardTokenUrl, forwardClientId, forwardClientSecret } = config.ldvOut;
  if (forwardTokenUrl !== undefined) {
    const needed = { LDV_FORWARD_CLIENT_ID: forwardClientId, LDV_FORWARD_CLIENT_SECRET: forwardClientSecret };
    requireAll(needed, 'LDV_FORWARD_TOKEN_URL', 'the credentials for the token', fault);
  }
  const addresses = { LDV_FORWARD_URL: forwardUrl, LDV_FORWARD_TOKEN_URL: forwardTokenUrl };
  requireTls(config, addresses, 'one with `https:` in production: it carries personal data', fault);
}

function inzage(config: Config, fault: Fault): void {
  const { html, inzage: settings, server } = config;
  if (!settings.pages || !server.areas.includes('verwerkingenlog')) return;
  if (server.environment === 'production' && !html.links.has('contact')) {
    fault(['PAGES_LINKS', 'NODE_ENV'], 'has no `contact`', 'where citizens ask, object and complain, in production');
  }
  const needed = {
    INZAGE_OIDC_ISSUER: settings.issuer,
    INZAGE_OIDC_CLIENT_ID: settings.clientId,
    INZAGE_OIDC_CLIENT_SECRET: settings.clientSecret,
    INZAGE_SESSION_KEY: settings.sessionKey,
  };
  requireAll(needed, 'VERWERKINGENLOG_PAGES', 'what VERWERKINGENLOG_PAGES needs', fault);
  const addresses = { INZAGE_OIDC_ISSUER: settings.issuer, PUBLIC_BASE_URL: server.publicBaseUrl };
  requireTls(config, addresses, 'one with `https:` in production, because citizens log in', fault);
}

/** An address without encryption is for a service on this machine or network. */
function aggregator({ aggregator: settings, raadsfeed }: Config, fault: Fault): void {
  if (/^http:/i.test(settings.ibabsUrl ?? '') && !raadsfeed.sourcesAllowPrivate) {
    fault(
      ['IBABS_URL', 'AGGREGATOR_ALLOW_PRIVATE'],
      'is an address with `http:`',
      'one with `https:`, or AGGREGATOR_ALLOW_PRIVATE=true',
    );
  }
}

function proof({ proof: settings, server }: Config, fault: Fault): void {
  if (settings.key === undefined && settings.sealingKey === undefined) return;
  if (server.environment === 'production' && settings.key !== undefined && settings.state === undefined)
    fault(['PROOF_STATE', 'PROOF_KEY', 'NODE_ENV'], 'is missing', 'a file where a restored backup does not reach');
}

/** A logbook uses the same protocol, but is only for the processing of personal data: another setting names it, or it is this service. */
function tracing({ tracing: { endpoint }, ...others }: Config, fault: Fault): void {
  if (endpoint === undefined) return;
  const { publicBaseUrl } = others.server;
  const isOwn = publicBaseUrl !== undefined && `${endpoint}/`.startsWith(`${publicBaseUrl}/`);
  if (isOwn || Object.values(others).some((group) => Object.values(group).includes(endpoint))) {
    fault(['TRACING_ENDPOINT'], 'is the address of a logbook or of another service', 'a collector for traces');
  }
}

/** Settings whose file cannot be read: all are found together, before anything is opened. */
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
