import { exactUrl, flag, list, optional, pairs, secret, setting, text } from '../../settings/kinds.ts';

/** The pages on which citizens see how their data were used. */
export const inzageSettings = {
  inzage: {
    pages: setting(
      'VERWERKINGENLOG_PAGES',
      flag,
      false,
      'Pages at `/inzage` where citizens see how their data were used.',
    ),
    issuer: optional(
      'INZAGE_OIDC_ISSUER',
      exactUrl('https', 'http'),
      'OpenID Connect provider that citizens log in with.',
    ),
    clientId: optional('INZAGE_OIDC_CLIENT_ID', text(), 'Client at that provider.'),
    clientSecret: secret('INZAGE_OIDC_CLIENT_SECRET', text(), 'Its secret (`client_secret_basic`).'),
    scope: setting(
      'INZAGE_OIDC_SCOPE',
      text(/^openid( [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'scopes, `openid` first'),
      'openid',
      'Scopes that are requested.',
    ),
    bsnClaim: setting(
      'INZAGE_OIDC_BSN_CLAIM',
      text(/^[\x21-\x7e]{1,200}$/, 'name of a claim'),
      'bsn',
      'Claim of the ID token with the BSN.',
    ),
    levels: setting(
      'INZAGE_OIDC_ACR',
      list(/^[\x21-\x2b\x2d-\x7e]{1,200}$/, 'comma list of values of `acr`'),
      [],
      'Accepted levels of assurance, the preferred one first. Absent: the provider decides.',
    ),
    sessionKey: secret(
      'INZAGE_SESSION_KEY',
      text(/^[A-Za-z0-9+/]{43}=$/, 'base64 of 32 bytes'),
      'Key of session cookies, the same on every instance. Another ends all sessions.',
    ),
    organisationNames: setting(
      'INZAGE_ORGANISATION_NAMES',
      pairs(/^(\d{20})=([^,\p{Cc}]{1,100})$/u, 'comma list of `OIN=name`'),
      new Map(),
      'Names that are shown instead of OINs.',
    ),
  },
};

/** Settings that no operator has a reason to change, by group; tests override them. */
export const inzageConstants = {
  inzage: {
    /** Requests per minute per address; 0 is no limit. More than a citizen ever makes, also from behind the address of an office. */
    rateLimit: 120,
    /** How long in milliseconds a call to the provider may take. */
    timeoutMs: 5_000,
    /** A session ends after this time without a request. */
    idleMs: 900_000,
    /** A session ends after this time at the latest. */
    sessionMs: 3_600_000,
  },
};
