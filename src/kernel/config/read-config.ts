import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { builtInModel, gegevensSettings } from './gegevens-settings.ts';
import type { Setting } from './kinds.ts';
import { ldvOutSettings } from './ldv-out-settings.ts';
import { ldvSettings } from './ldv-settings.ts';
import { pagesSettings } from './pages-settings.ts';
import { databaseSettings, demoSettings, serverSettings, tokenSettings } from './platform-settings.ts';
import { raadsfeedSettings } from './raadsfeed-settings.ts';
import { securitySettings } from './security-settings.ts';
import { verwerkingenlogSettings } from './verwerkingenlog-settings.ts';

/** Every setting there is, by group. The README's table is tested against it. */
export const settings = {
  server: serverSettings,
  security: securitySettings,
  database: databaseSettings,
  tokens: tokenSettings,
  gegevens: gegevensSettings,
  verwerkingenlog: verwerkingenlogSettings,
  ldv: ldvSettings,
  ldvOut: ldvOutSettings,
  raadsfeed: raadsfeedSettings,
  pages: pagesSettings,
  demo: demoSettings,
};

/** Every variable that is read, those that name the file of a secret too. */
export function knownVariables(): string[] {
  return Object.values(settings).flatMap((group) =>
    Object.values(group).flatMap(({ variable, secret }) => (secret ? [variable, `${variable}_FILE`] : [variable])),
  );
}

type Values<G> = { readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : never };
export type Config = { readonly [G in keyof typeof settings]: Values<(typeof settings)[G]> };

/** The environment as a program gets it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One fault of the configuration. */
export interface ConfigFault {
  readonly variable: string;
  readonly wrong: string;
  readonly allowed: string;
}

/** The configuration cannot be used; the message names every fault, a line each. Values are not repeated: they may be secret. */
export class ConfigError extends Error {
  readonly code = 'ERR_CONFIG';
  readonly faults: readonly ConfigFault[];
  constructor(faults: readonly ConfigFault[]) {
    super(
      ['The configuration has faults:', ...faults.map((f) => `  ${f.variable} ${f.wrong}; allowed: ${f.allowed}`)].join(
        '\n',
      ),
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The text of one setting: its variable, or for a secret the file that `<variable>_FILE` names. */
function readText(setting: Setting<unknown>, env: Environment): string | undefined {
  const given = env[setting.variable];
  const file = setting.secret ? env[`${setting.variable}_FILE`] : undefined;
  if (given !== undefined && given !== '' && file !== undefined && file !== '') {
    throw new Error(`is given twice, as itself and as ${setting.variable}_FILE`);
  }
  if (file !== undefined && file !== '') {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch {
      throw new Error(`cannot be read: ${setting.variable}_FILE names no readable file`);
    }
  }
  return given === '' ? undefined : given;
}

function readGroup<G extends Record<string, Setting<unknown>>>(group: G, env: Environment, faults: ConfigFault[]) {
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(group)) {
    values[name] = setting.absent();
    try {
      const text = readText(setting, env);
      if (text !== undefined) values[name] = setting.parse(text);
    } catch (error) {
      faults.push({ variable: setting.variable, wrong: message(error), allowed: setting.allowed });
    }
  }
  return values;
}

/**
 * Reads the whole configuration from the environment.
 * @param purpose `serve` also demands what the mounted areas need; `tool` is for commands that need only some of it
 * @throws {ConfigError} naming every malformed, missing or contradicting variable together
 */
export function readConfig(env: Environment, purpose: 'serve' | 'tool'): Config {
  const faults: ConfigFault[] = [];
  const groups = Object.fromEntries(
    Object.entries(settings).map(([name, group]) => [name, readGroup(group, env, faults)]),
  );
  assertConfig(groups);
  if (purpose === 'serve') {
    const malformed = new Set(faults.map((fault) => fault.variable));
    // A variable that could not be read looks absent: what follows from that alone would only hide the real fault.
    faults.push(...unreadableFiles(groups));
    faults.push(...contradictions(groups).filter(({ involves }) => !involves.some((name) => malformed.has(name))));
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return groups;
}

/** The table above decides the shape; this only tells the compiler so after every group has been read. */
function assertConfig(groups: Record<string, unknown>): asserts groups is Config {
  for (const name of Object.keys(settings)) {
    if (typeof groups[name] !== 'object') throw new TypeError(`group ${name} was not read`);
  }
}

/** A variable that looks like one of ours and is none. */
interface UnknownVariable {
  readonly variable: string;
  /** The one that was probably meant. */
  readonly nearest: string;
}

/** First words that variables of others begin with too: `LOG_DIR`, `NODE_OPTIONS`. There only a slip of a letter or two is taken for ours. */
const SHARED_WORDS = ['BODY', 'CLIENT', 'HEADER', 'LOG', 'NODE', 'PUBLIC', 'REQUEST', 'TRUST'];
/** What Kubernetes and Docker tell of a service that is called as we are. */
const OF_A_SERVICE = /_(SERVICE_(HOST|PORT\w*)|PORT(_\d+_(TCP|UDP)\w*)?)$/;
/** So many letters may differ. */
const SLIP = 2;
const MIN_LENGTH = 8;

/** Names what would be ignored in silence, such as `GEGEVENS_TRUST_ANCHOR`. @param known every variable that is read */
export function unknownVariables(env: Environment, known: readonly string[]): UnknownVariable[] {
  const words = new Set(known.filter((name) => name.includes('_')).map(firstWord));
  for (const word of SHARED_WORDS) words.delete(word);
  return Object.keys(env)
    .filter((name) => !known.includes(name) && /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(name) && !OF_A_SERVICE.test(name))
    .flatMap((variable) => {
      const distances = known.map((name) => ({ name, distance: distance(variable, name) }));
      const [first] = distances.sort((a, b) => a.distance - b.distance);
      if (first === undefined) return [];
      const isSlip = variable.length >= MIN_LENGTH && first.distance <= SLIP;
      return words.has(firstWord(variable)) || isSlip ? [{ variable, nearest: first.name }] : [];
    });
}

function firstWord(name: string): string {
  return name.slice(0, name.indexOf('_'));
}

/** Letters to change, add or leave out to make the one of the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A fault that lies between variables, each of them well formed. */
interface Contradiction extends ConfigFault {
  readonly involves: readonly string[];
}

/** What the mounted areas need and do not have, and what cannot be together. */
function contradictions(config: Config): Contradiction[] {
  const found: Contradiction[] = [];
  const fault = (involves: readonly [string, ...string[]], wrong: string, allowed: string): void => {
    found.push({ variable: involves[0], wrong, allowed, involves });
  };
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
  const { ldvOut } = config;
  if (ldvOut.forwardTokenUrl !== undefined) {
    for (const [variable, value] of [
      ['LDV_FORWARD_CLIENT_ID', ldvOut.forwardClientId],
      ['LDV_FORWARD_CLIENT_SECRET', ldvOut.forwardClientSecret],
    ] as const) {
      if (value === undefined)
        fault([variable, 'LDV_FORWARD_TOKEN_URL'], 'is missing', 'what the token is asked for with');
    }
    if (ldvOut.forwardToken !== undefined)
      fault(['LDV_FORWARD_TOKEN', 'LDV_FORWARD_TOKEN_URL'], 'stands beside LDV_FORWARD_TOKEN_URL', 'one of the two');
  }
  if (server.environment === 'production') {
    const { forwardUrl, forwardTokenUrl } = ldvOut;
    for (const [variable, value] of Object.entries({
      LDV_FORWARD_URL: forwardUrl,
      LDV_FORWARD_TOKEN_URL: forwardTokenUrl,
    })) {
      if (/^http:/i.test(value ?? ''))
        fault(
          [variable, 'NODE_ENV'],
          'is an address with `http:`',
          'one with `https:` in production: it carries personal data',
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
    config.ldv.prefix,
    config.raadsfeed.prefix,
    ...(config.raadsfeed.pages ? ['/raad'] : []),
    ...(config.raadsfeed.diwoo ? ['/woo'] : []),
  ];
  const nested = prefixes.some((a, i) => prefixes.some((b, j) => i !== j && (a === b || a.startsWith(`${b}/`))));
  if (nested) {
    fault(
      ['GEGEVENS_SHV_PREFIX', 'GEGEVENS_VS_PREFIX', 'VERWERKINGENLOG_PREFIX', 'LDV_PREFIX', 'RAADSFEED_PREFIX'],
      'overlaps with another mount',
      'five paths, none inside another, and none at or below `/raad` with RAADSFEED_PAGES or `/woo` with RAADSFEED_DIWOO',
    );
  }
  return found;
}

/** Settings that name a file which cannot be read: found before anything is opened, and all of them together. */
function unreadableFiles({ gegevens, pages, tokens }: Config): ConfigFault[] {
  const files = {
    PAGES_THEME_CSS: pages.themeCss,
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
