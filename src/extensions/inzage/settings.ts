import { flag, integer, list, optionalText, pairs, text, url } from '../../settings/kinds.ts';
import type { Config, Fault } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly inzage: typeof settings.inzage;
  }
  interface ConstantGroups {
    readonly inzage: typeof constants.inzage;
  }
}

/** The pages on which a citizen sees what was done with his or her data. */
export const settings = {
  inzage: {
    pages: flag('VERWERKINGENLOG_PAGES', {
      default: false,
      description:
        'Pages under `/inzage` on which citizens see what was done with their data; needs the area `verwerkingenlog`.',
    }),
    issuer: url('INZAGE_OIDC_ISSUER', {
      schemes: ['https', 'http'],
      exact: true,
      description: 'OpenID Connect provider that citizens log in with; in production with `https:`.',
    }),
    clientId: optionalText('INZAGE_OIDC_CLIENT_ID', { description: 'Client of the pages at that provider.' }),
    clientSecret: optionalText('INZAGE_OIDC_CLIENT_SECRET', {
      secret: true,
      description: 'Its secret (`client_secret_basic`).',
    }),
    scope: text('INZAGE_OIDC_SCOPE', {
      default: 'openid',
      pattern: /^openid( [\x21\x23-\x5b\x5d-\x7e]+)*$/,
      allowed: 'scopes with a blank between them, `openid` the first',
      description: 'What is asked of the provider.',
    }),
    bsnClaim: text('INZAGE_OIDC_BSN_CLAIM', {
      default: 'bsn',
      pattern: /^[\x21-\x7e]{1,200}$/,
      allowed: 'name of a claim',
      description: 'Claim of the ID token with the citizen service number.',
    }),
    levels: list('INZAGE_OIDC_ACR', {
      item: /^[\x21-\x2b\x2d-\x7e]{1,200}$/,
      allowed: 'comma list of values of `acr`',
      description: 'Levels of assurance that are accepted, the wanted one first. Absent: the provider decides.',
    }),
    sessionKey: optionalText('INZAGE_SESSION_KEY', {
      secret: true,
      pattern: /^[A-Za-z0-9+/]{43}=$/,
      allowed: 'base64 of 32 bytes',
      description: 'Key of the session cookies, the same on every instance. Another key ends all sessions.',
    }),
    rateLimit: integer('INZAGE_RATE_LIMIT', {
      default: 120,
      min: 0,
      max: 10_000_000,
      description: 'Requests per minute per address; 0 is no limit.',
    }),
    organisation: text('INZAGE_ORGANISATION', {
      default: 'deze organisatie',
      pattern: /^[^\p{Cc}]{1,100}$/u,
      allowed: 'text of at most 100 characters',
      description: 'Name of the organisation whose log this is, as its pages say it.',
    }),
    organisationNames: pairs('INZAGE_ORGANISATION_NAMES', {
      item: /^(\d{20})=([^,\p{Cc}]{1,100})$/u,
      allowed: 'comma list of `OIN=name`',
      description: 'Names of organisations by OIN; others are shown by their number.',
    }),
    contact: url('INZAGE_CONTACT', {
      schemes: ['https', 'mailto'],
      exact: true,
      description: 'Where a citizen asks about what he or she sees.',
    }),
  },
};

/** Limits that are right for everybody. */
export const constants = {
  inzage: {
    /** How long a call to the provider may take. */
    timeoutMs: { variable: 'INZAGE_OIDC_TIMEOUT', value: 5_000 },
    /** A session ends after so long without a request. */
    idleMs: { variable: 'INZAGE_SESSION_IDLE', value: 900_000 },
    /** A session ends after so long, whatever happens. */
    sessionMs: { variable: 'INZAGE_SESSION_MAX', value: 3_600_000 },
  },
};

export const isServed = ({ inzage, server }: Config): boolean =>
  inzage.pages && server.areas.includes('verwerkingenlog');

export const mounts = (config: Config): string[] => (isServed(config) ? ['/inzage'] : []);

export function contradictions(config: Config, fault: Fault): void {
  if (!isServed(config)) return;
  const { inzage, server } = config;
  const needed = {
    INZAGE_OIDC_ISSUER: inzage.issuer,
    INZAGE_OIDC_CLIENT_ID: inzage.clientId,
    INZAGE_OIDC_CLIENT_SECRET: inzage.clientSecret,
    INZAGE_SESSION_KEY: inzage.sessionKey,
    ...(server.environment === 'production' ? { PUBLIC_BASE_URL: server.publicBaseUrl } : {}),
  };
  for (const [variable, value] of Object.entries(needed)) {
    if (value === undefined)
      fault([variable, 'VERWERKINGENLOG_PAGES'], 'is missing', 'what VERWERKINGENLOG_PAGES needs');
  }
  for (const [variable, value] of [
    ['INZAGE_OIDC_ISSUER', inzage.issuer],
    ['PUBLIC_BASE_URL', server.publicBaseUrl],
  ] as const) {
    if (server.environment === 'production' && /^http:/i.test(value ?? ''))
      fault(
        [variable, 'NODE_ENV'],
        'is an address with `http:`',
        'one with `https:` in production, for citizens log in',
      );
  }
}
