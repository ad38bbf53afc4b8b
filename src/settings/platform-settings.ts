import {
  addresses,
  choice,
  choices,
  exactUrl,
  file,
  flag,
  integer,
  list,
  optional,
  pairs,
  port,
  postgres,
  proxies,
  secret,
  setting,
  text,
  url,
  urlWithLogin,
} from './kinds.ts';

const WEB = ['https', 'http'] as const;
const AREAS = ['shv', 'vs', 'verwerkingenlog', 'raadsfeed'] as const;

const server = {
  areas: setting('AREAS', choices(...AREAS), AREAS, 'Interfaces to serve.'),
  host: setting('HOST', text(), '127.0.0.1', 'Address of the public listener.'),
  port: setting('PORT', port, 8080, 'Its port; 0 takes a free one.'),
  managementHost: setting(
    'MANAGEMENT_HOST',
    text(),
    '127.0.0.1',
    'Address of the management listener (health, metrics).',
  ),
  managementPort: setting('MANAGEMENT_PORT', port, 9090, 'Its port.'),
  publicBaseUrl: optional(
    'PUBLIC_BASE_URL',
    url(...WEB),
    'Address that clients see, the root of links in answers. Required in production.',
  ),
  home: setting(
    'KOPPELVLAK_HOME',
    text(),
    '.koppelvlak',
    'Directory of the embedded database, the demo, and the keys that are made outside production.',
  ),
  organisation: optional(
    'ORGANISATION_NAME',
    text(/^[^\p{Cc}]{1,100}$/u, 'at most 100 characters'),
    'Whose data this is: on pages, in LDV, log lines and metrics.',
  ),
  environment: setting(
    'NODE_ENV',
    choice('development', 'test', 'production'),
    'development',
    '`production` refuses the embedded database and the demo.',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'Least severe line that is logged.',
  ),
  trustProxy: optional('TRUST_PROXY', proxies, 'Proxies whose `X-Forwarded-For` counts.'),
  outboundProxy: secret(
    'OUTBOUND_PROXY',
    urlWithLogin('http', 'https'),
    'Proxy for calls to others, with credentials if needed.',
  ),
  outboundNoProxy: setting(
    'OUTBOUND_NO_PROXY',
    list(/^[A-Za-z0-9_.:[\]*-]+$/, 'comma list of hosts; `.example.nl`: all below it'),
    [],
    'Hosts called without it.',
  ),
  shutdownDrainMs: setting(
    'SHUTDOWN_DRAIN_MS',
    integer(0, 600_000),
    5000,
    'Milliseconds to keep serving after `SIGTERM`, with readiness 503.',
  ),
  securityTxt: optional('SECURITY_TXT', file, 'Served as `/.well-known/security.txt` (RFC 9116) until its `Expires`.'),

  traceContextTo: setting('TRACE_CONTEXT_TO', addresses, [], 'Feeds, and all below them, that get a `traceparent`.'),
};

const database = {
  url: postgresUrl(
    'DATABASE_URL',
    'Postgres 15 or newer; of [several servers](operations.md#several-database-servers) their proxy. Absent: the embedded one.',
  ),
  migrationUrl: postgresUrl('DATABASE_MIGRATION_URL', 'Login of the owner, for migrations. Absent: `DATABASE_URL`.'),
  listenUrl: postgresUrl(
    'DATABASE_LISTEN_URL',
    'Direct connection for `LISTEN` beside a pooler; without it the service polls.',
  ),
  pruneUrl: postgresUrl(
    'DATABASE_PRUNE_URL',
    'Login of the retention role. Absent: `DATABASE_URL`, switched to that role.',
  ),
  pooler: setting(
    'DATABASE_POOLER',
    choice('none', 'transaction'),
    'none',
    '`transaction` for pgbouncer in transaction mode.',
  ),
  migrate: setting('DATABASE_MIGRATE', flag, true, 'Migrate at start.'),
  poolSize: setting(
    'DATABASE_POOL_SIZE',
    integer(2, 200),
    10,
    'Size of each of the three [pools](operations.md#connections) for requests.',
  ),
};

/** Such an address may contain a password. */
function postgresUrl(variable: string, description: string): ReturnType<typeof secret<string>> {
  return secret(variable, postgres, description);
}

const tokens = {
  oauthIssuer: optional(
    'OAUTH_ISSUER',
    // Tokens and metadata must name it exactly (RFC 8414 section 3.3).
    exactUrl(...WEB),
    'Issuer of OAuth access tokens, as they name it. Switches OAuth on.',
  ),
  oauthAudience: optional('OAUTH_AUDIENCE', text(), 'Audience that they must name.'),
  oauthJwksUrl: optional('OAUTH_JWKS_URL', url(...WEB), 'Its keys. Absent: found by discovery.'),
  oauthOinClaim: optional(
    'OAUTH_OIN_CLAIM',
    text(),
    'Claim with the client’s OIN, which must be the signer’s (SHV, VS).',
  ),
  oauthClientOins: setting(
    'OAUTH_CLIENT_OINS',
    pairs(/^([^,=]+)=(\d{20})$/, 'comma list of client=OIN (20 digits)'),
    new Map(),
    'The same, for clients whose tokens lack that claim.',
  ),
  fscCertificates: optional(
    'FSC_TOKEN_CERTIFICATES',
    text(undefined, 'path of a PEM bundle, or address of a key set'),
    'Certificates or `/.well-known/jwks.json` of the FSC Manager. Switches FSC on.',
  ),
  fscGroupId: optional('FSC_GROUP_ID', text(), 'Group (`gid`) that FSC tokens must name.'),
  fscAudience: setting(
    'FSC_AUDIENCE',
    list(/^\S+$/, 'comma list of addresses'),
    [],
    'Addresses of the Inways (`aud`); a token must name one.',
  ),
  fscPeerId: optional('FSC_PEER_ID', text(), 'Own peer id (`iss`) that they must name.'),
  clientCertificateHeader: optional(
    'CLIENT_CERT_HEADER',
    // The contents of another header, such as `Authorization`, would be mistaken for a certificate or refused with each request.
    text(/^(?=.*cert)[a-z0-9-]+$/i, 'name with `cert` in it'),
    'Header in which the proxy passes the client certificate (RFC 9440); it must remove that header from what clients send.',
  ),
};

const html = {
  themeCss: optional(
    'PAGES_THEME_CSS',
    text(undefined, 'path of a CSS file'),
    'Own style sheet: tokens of Utrecht’s components; fonts as `data:`. `logo.svg`, `favicon.svg` (or `.png`) beside it are used.',
  ),
  links: setting(
    'PAGES_LINKS',
    pairs(
      /^(toegankelijkheid|privacy|contact|griffie|fg)=(https:\/\/[^,\s@]+|mailto:[^,\s]+)$/,
      'comma list of `toegankelijkheid`, `privacy`, `contact`, `griffie`, `fg` with `=https://…` or `=mailto:…`',
    ),
    new Map(),
    'Accessibility statement, privacy, contact, clerk and privacy officer, at the foot of pages.',
  ),
};

const tracing = {
  endpoint: optional(
    'TRACING_ENDPOINT',
    url('https', 'http'),
    'OpenTelemetry collector of [traces](operations.md#traces), without `/v1/traces`.',
  ),
};

export const platformSettings = { server, database, tokens, html, tracing };

/** Settings that no operator has a reason to change, by group; tests override them. */
export const platformConstants = {
  server: {
    /** Time in milliseconds to finish running requests after new ones are refused: a third of the time limit, and most take far less. */
    shutdownTimeoutMs: 10_000,
    /** Largest request body in bytes (LDV has its own limit); larger ones get 413. The largest that the contracts allow is a tenth of it. */
    bodyLimitBytes: 1_048_576,
    /**
     * Bytes of bodies, each plus a kilobyte, that one mount processes at once; more get 503 (area A: 502). One client may hold half of it; more get
     * 429. In memory they are up to twenty times as large.
     */
    bodiesInProgressBytes: 8_388_608,
    /**
     * Bytes of complete answers of one mount that their readers have not taken; beyond it the oldest is cut. A client that does not read may have a
     * quarter of it; then it gets 429. Streams of the feed may hold a quarter in addition, and those of one address a quarter of that.
     */
    unreadAnswersBytes: 268_435_456,
    /** Largest request head in bytes (a certificate chain travels in one); larger ones get 431. */
    headerLimitBytes: 65_536,
    /** Milliseconds in which a request must have arrived, and in which its answer must begin; a connection that is idle for twice that is cut. */
    requestTimeoutMs: 30_000,
    /** Event-loop delay in milliseconds from which requests are shed; 0 never sheds. */
    overloadEventLoopDelayMs: 1000,
  },
  database: {
    /** Seconds after which an unused connection is closed: a shared server has few, and a new one takes milliseconds. */
    idleSeconds: 5,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 15_000,
  },
  tokens: {
    /** Seconds that the keys of the issuer (and of the FSC Manager) are used before they are fetched again; longer only while it is unavailable. */
    oauthJwksCacheSeconds: 300,
    /** How long in seconds a verified token is accepted without verifying its signature again. */
    oauthTokenCacheSeconds: 300,
  },
};
