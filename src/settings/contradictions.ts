import { readFileSync } from 'node:fs';
import { builtInModel } from '../lib/exchange-model/built-in-models.ts';
import type { Config, ConfigFault, Fault } from './config.ts';
import { whyUnreadable } from './readable-file.ts';

export function contradictions(config: Config, fault: Fault): void {
  for (const check of [interfaces, ldv, inzage, aggregator, proof, tracing]) check(config, fault);
}

type Values = Readonly<Record<string, unknown>>;

/** Adds a fault for each of these variables that is absent or empty. @param needing the variable that needs them */
function requireAll(values: Values, needing: string, allowed: string, fault: Fault): void {
  for (const [variable, value] of Object.entries(values)) {
    if (value === undefined || (Array.isArray(value) && value.length === 0))
      fault([variable, needing], 'is missing', allowed);
  }
}

/** Adds a fault for each of these addresses that has no encryption in production. */
function requireTls({ server }: Config, addresses: Values, allowed: string, fault: Fault): void {
  for (const [variable, address] of Object.entries(addresses)) {
    if (server.environment === 'production' && /^http:/i.test(String(address)))
      fault([variable, 'NODE_ENV'], 'is an address with `http:`', allowed);
  }
}

const SIGNING = 'GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN, or a PKCS#12 file in GEGEVENS_SIGNING_KEY alone';
/** What to set where a variable is missing. */
const NEEDED = {
  DATABASE_URL: 'a Postgres address; the embedded one is not meant for production',
  DATABASE_MIGRATION_URL: 'a direct address for migrations beside the pooler, or DATABASE_MIGRATE=false',
  PUBLIC_BASE_URL: 'the address that clients see; links in answers begin with it',
  OAUTH_ISSUER: 'OAUTH_ISSUER, FSC_TOKEN_CERTIFICATES or both, for the areas in AREAS that need a token',
  OAUTH_AUDIENCE: 'the audience that tokens of OAUTH_ISSUER name',
  VERWERKINGENLOG_KEY: 'keys for the processing log, as `name:base64 of 32 bytes`',
  GEGEVENS_TRUST_ANCHORS: 'path of a PEM bundle, for shv and vs in AREAS',
  GEGEVENS_SIGNING_KEY: SIGNING,
  GEGEVENS_SIGNING_CHAIN: SIGNING,
} as const;
const TLS_FOR_KEYS =
  'one with `https:`; in production the keys of an issuer come over TLS only; otherwise anyone on the network path can forge tokens';

function interfaces(config: Config, fault: Fault): void {
  const { server, database, tokens, gegevens, verwerkingenlog } = config;
  const isProduction = server.environment === 'production';
  const servesGegevens = server.areas.includes('shv') || server.areas.includes('vs');
  const needsTokens = servesGegevens || server.areas.includes('verwerkingenlog');
  const missing = (variable: keyof typeof NEEDED, ...others: readonly string[]): void =>
    fault([variable, ...others], 'is missing', NEEDED[variable]);

  if (isProduction && database.url === undefined) missing('DATABASE_URL', 'NODE_ENV');
  if (isProduction && server.publicBaseUrl === undefined) missing('PUBLIC_BASE_URL', 'NODE_ENV');
  if (database.pooler === 'transaction' && database.migrate && database.migrationUrl === undefined)
    missing('DATABASE_MIGRATION_URL', 'DATABASE_POOLER', 'DATABASE_MIGRATE');
  if (needsTokens) {
    const { oauthIssuer, oauthJwksUrl, fscCertificates } = tokens;
    if (oauthIssuer === undefined && fscCertificates === undefined) missing('OAUTH_ISSUER', 'FSC_TOKEN_CERTIFICATES');
    if (isProduction && verwerkingenlog.key === undefined) missing('VERWERKINGENLOG_KEY', 'NODE_ENV');
    const sources = {
      OAUTH_ISSUER: oauthIssuer,
      OAUTH_JWKS_URL: oauthJwksUrl,
      FSC_TOKEN_CERTIFICATES: fscCertificates,
    };
    requireTls(config, sources, TLS_FOR_KEYS, fault);
  }
  if (isProduction && servesGegevens && gegevens.revocationAllowPrivate) {
    const allowed =
      '`false` in production: otherwise the certificate in a request can cause calls to internal addresses';
    fault(['GEGEVENS_REVOCATION_ALLOW_PRIVATE', 'NODE_ENV'], 'is `true`', allowed);
  }
  const keyNames = verwerkingenlog.key?.split(',').map((key) => key.split(':', 1)[0]) ?? [];
  if (new Set(keyNames).size < keyNames.length)
    fault(['VERWERKINGENLOG_KEY'], 'names two keys alike', 'a name of its own for every key');
  if (tokens.oauthIssuer !== undefined && tokens.oauthAudience === undefined) missing('OAUTH_AUDIENCE', 'OAUTH_ISSUER');
  if (tokens.fscCertificates !== undefined) {
    const claims = { FSC_GROUP_ID: tokens.fscGroupId, FSC_AUDIENCE: tokens.fscAudience, FSC_PEER_ID: tokens.fscPeerId };
    requireAll(claims, 'FSC_TOKEN_CERTIFICATES', 'what FSC tokens must name', fault);
  }
  if (!servesGegevens) return;
  if (gegevens.trustAnchors === undefined) missing('GEGEVENS_TRUST_ANCHORS', 'AREAS');
  // A token of FSC names its peer, who must be the signer: only a client of OAuth needs more.
  const isBound =
    tokens.oauthIssuer === undefined || tokens.oauthOinClaim !== undefined || tokens.oauthClientOins.size > 0;
  if (isProduction && !isBound && gegevens.allowedSigners.length === 0) {
    fault(
      ['OAUTH_CLIENT_OINS', 'OAUTH_OIN_CLAIM', 'GEGEVENS_ALLOWED_SIGNERS', 'NODE_ENV'],
      'is missing, and so are OAUTH_OIN_CLAIM and GEGEVENS_ALLOWED_SIGNERS',
      'one of the three: otherwise any holder of a token may use anybody’s signed request',
    );
  }
  const { signingKey, signingChain } = gegevens;
  if (signingKey === undefined) missing('GEGEVENS_SIGNING_KEY', 'GEGEVENS_SIGNING_CHAIN');
  else if (signingChain === undefined && whyUnreadable(signingKey) === undefined && isPem(signingKey))
    missing('GEGEVENS_SIGNING_CHAIN', 'GEGEVENS_SIGNING_KEY');
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
    const allowed = 'one with `https:`, or AGGREGATOR_ALLOW_PRIVATE=true';
    fault(['IBABS_URL', 'AGGREGATOR_ALLOW_PRIVATE'], 'is an address with `http:`', allowed);
  }
}

function proof({ proof: settings, server }: Config, fault: Fault): void {
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
