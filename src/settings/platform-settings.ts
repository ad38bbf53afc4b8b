import { choice, choices, flag, integer, list, optionalText, pairs, postgres, proxies, text, url } from './kinds.ts';

const SECRET = { secret: true };

/** Settings of the process and its listeners. */
export const serverSettings = {
  areas: choices('AREAS', ['shv', 'vs', 'verwerkingenlog', 'raadsfeed'], {
    default: ['shv', 'vs', 'verwerkingenlog', 'raadsfeed'],
    description: 'Which interfaces this process serves.',
  }),
  host: text('HOST', { default: '127.0.0.1', description: 'Address that the public listener binds to.' }),
  port: integer('PORT', {
    default: 8080,
    min: 0,
    max: 65535,
    description: 'Port of the public listener; 0 takes a free one.',
  }),
  managementHost: text('MANAGEMENT_HOST', {
    default: '127.0.0.1',
    description: 'Address that the management listener (health, metrics) binds to.',
  }),
  managementPort: integer('MANAGEMENT_PORT', {
    default: 9090,
    min: 0,
    max: 65535,
    description: 'Port of the management listener; 0 takes a free one.',
  }),
  publicBaseUrl: url('PUBLIC_BASE_URL', {
    schemes: ['https', 'http'],
    description:
      'Address that clients see, the root of every absolute link in an answer. Absent: the address listened on.',
  }),
  home: text('KOPPELVLAK_HOME', {
    default: '.koppelvlak',
    description: 'Directory of the embedded database and of the demo.',
  }),
  organisation: optionalText('ORGANISATION', {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    allowed: 'up to 63 letters, digits, `.`, `_` and `-`',
    description:
      'Short name of the organisation that this process serves: label `organisation` of every metric and a member of every log line, where many organisations are watched together.',
  }),
  environment: choice('NODE_ENV', ['development', 'test', 'production'], {
    default: 'development',
    description: 'With `production` the embedded database, the demo and settings that are meant for tests are refused.',
  }),
  logLevel: choice('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least severe log line that is written.',
  }),
  trustProxy: proxies('TRUST_PROXY', {
    description: 'Whose `X-Forwarded-For` counts. Absent: nobody’s.',
  }),
  bodyLimitBytes: integer('BODY_LIMIT_BYTES', {
    default: 1_048_576,
    min: 1024,
    max: 104_857_600,
    description: 'Largest request body in bytes; larger ones get 413.',
  }),
  unreadAnswersBytes: integer('UNREAD_ANSWERS_BYTES', {
    default: 268_435_456,
    min: 1_048_576,
    max: 10_737_418_240,
    description:
      'Bytes of whole answers of one mount that their readers have not taken; beyond it the one that waits longest is cut off. One client that does not read may have a quarter of it; then it gets 429. Streams of the feed may hold a quarter of this beside it, and those of one address a quarter of that.',
  }),
  outboundProxy: url('OUTBOUND_PROXY', {
    ...SECRET,
    schemes: ['http', 'https'],
    description:
      'Forward proxy for calls to others (revocation, issuers, feeds), with credentials if it asks for them. Absent: called directly.',
  }),
  outboundNoProxy: list('OUTBOUND_NO_PROXY', {
    item: /^[A-Za-z0-9_.:[\]*-]+$/,
    allowed: 'comma list of hosts, `.example.nl` for all below it',
    description: 'Hosts that are called without `OUTBOUND_PROXY`.',
  }),
  traceContextTo: list('TRACE_CONTEXT_TO', {
    item: /^https?:\/\/[^\s,/?#@]+(\/[^\s,?#]*)?$/,
    allowed: 'comma list of addresses with `http:` or `https:`',
    description:
      'Addresses (and all below them) that calls to feeds carry a `traceparent` to, beside `LDV_FORWARD_URL`. Never responders, issuers or suppliers.',
  }),
  tracingEndpoint: url('TRACING_ENDPOINT', {
    schemes: ['https', 'http'],
    description:
      'Collector of OpenTelemetry, without `/v1/traces`, that traces of requests go to (OTLP over HTTP, protobuf). Never an address of LDV. Absent: no tracing.',
  }),
  tracingSamplePercent: integer('TRACING_SAMPLE_PERCENT', {
    default: 100,
    min: 1,
    max: 100,
    description: 'Share of all traces, in percent, that are sent to `TRACING_ENDPOINT`.',
  }),
  shutdownDrainMs: integer('SHUTDOWN_DRAIN_MS', {
    default: 5000,
    min: 0,
    max: 600_000,
    description:
      'Time in milliseconds after `SIGTERM` in which everything is still served, with readiness 503, so that balancers go elsewhere; then two seconds for connections that are open. 0: stops at once. The demo has 0.',
  }),
  shutdownTimeoutMs: integer('SHUTDOWN_TIMEOUT_MS', {
    default: 10_000,
    min: 100,
    max: 600_000,
    description: 'Time in milliseconds to finish running requests once nothing new is taken.',
  }),
};

/** Settings of the database. */
export const databaseSettings = {
  url: postgres('DATABASE_URL', {
    description:
      'Postgres 15 or newer; with several hosts as for libpq, such as `…@db1,db2/koppelvlak?target_session_attrs=read-write`. Absent: an embedded Postgres under `KOPPELVLAK_HOME`, not meant for production.',
  }),
  migrationUrl: postgres('DATABASE_MIGRATION_URL', {
    description: 'Login of the owner, for migrations. Absent: `DATABASE_URL`.',
  }),
  listenUrl: postgres('DATABASE_LISTEN_URL', {
    description:
      'Direct connection for `LISTEN` when `DATABASE_URL` is a pooler. Absent: `DATABASE_URL`, or polling with a pooler.',
  }),
  readUrl: postgres('DATABASE_READ_URL', {
    description:
      'Replica for the reads of the feed; while it is away they go to `DATABASE_URL`. One replica: behind an address that divides over several the head would go back. Absent: `DATABASE_URL`.',
  }),
  pruneUrl: postgres('DATABASE_PRUNE_URL', {
    description: 'Login of the retention role (`koppelvlak_opschoner`). Absent: `DATABASE_URL`, switched to that role.',
  }),
  pooler: choice('DATABASE_POOLER', ['none', 'transaction'], {
    default: 'none',
    description:
      '`transaction` when `DATABASE_URL` is a pgbouncer in transaction mode: no session settings, no named statements.',
  }),
  migrate: flag('DATABASE_MIGRATE', { default: true, description: 'Migrate at start.' }),
  distributed: choice('DATABASE_DISTRIBUTED', ['none', 'citus'], {
    default: 'none',
    description:
      '`citus`: migrating also distributes the processing log over the nodes of Citus; `DATABASE_URL` is its coordinator. A log that is distributed stays so.',
  }),
  poolSize: integer('DATABASE_POOL_SIZE', {
    default: 10,
    min: 2,
    max: 200,
    description:
      'Connections per process for the data exchange and for reads of the feed each; half as many for changes of the processing log, for logged reads of it, and for publishing each. All together at most 3.5 times this and 8.',
  }),
  idleSeconds: integer('DATABASE_IDLE_SECONDS', {
    default: 30,
    min: 1,
    max: 3600,
    description:
      'Seconds after which a connection that nobody uses is closed; few where many processes share a database server.',
  }),
};

/** Settings of access tokens, both kinds of issuer. */
export const tokenSettings = {
  oauthIssuer: url('OAUTH_ISSUER', {
    schemes: ['https', 'http'],
    // Tokens and metadata name it to the letter (RFC 8414 section 3.3).
    exact: true,
    description: 'Issuer of OAuth access tokens, as they name it; switches this kind on. `https:` in production.',
  }),
  oauthAudience: optionalText('OAUTH_AUDIENCE', { description: 'Audience that an OAuth token must name.' }),
  oauthJwksUrl: url('OAUTH_JWKS_URL', {
    schemes: ['https', 'http'],
    description: 'Keys of the issuer. Absent: found by discovery from the issuer. `https:` in production.',
  }),
  oauthOinClaim: optionalText('OAUTH_OIN_CLAIM', {
    description: 'Claim of an OAuth token with the OIN of its client: in area A it must be the OIN of the signer.',
  }),
  oauthClientOins: pairs('OAUTH_CLIENT_OINS', {
    item: /^([^,=]+)=(\d{20})$/,
    allowed: 'comma list of client=OIN (20 digits)',
    description: 'OINs of OAuth clients whose tokens lack that claim: in area A it must be the OIN of the signer.',
  }),
  fscCertificates: optionalText('FSC_TOKEN_CERTIFICATES', {
    allowed: 'path of a PEM bundle, or address of a JSON Web Key Set',
    description:
      'Certificates that the Manager signs FSC tokens with (a changed file is taken up), or its `/.well-known/jwks.json` (`https:` in production); switches this kind on.',
  }),
  fscGroupId: optionalText('FSC_GROUP_ID', { description: 'Group (`gid`) that an FSC token must name.' }),
  fscAudience: list('FSC_AUDIENCE', {
    item: /^\S+$/,
    allowed: 'comma list of addresses',
    description:
      'Addresses of the Inways (`aud`), one of which an FSC token must name; a slash at the end does not matter.',
  }),
  fscPeerId: optionalText('FSC_PEER_ID', { description: 'Own peer id (`iss`) that an FSC token must name.' }),
  clientCertificateHeader: optionalText('CLIENT_CERT_HEADER', {
    // Of another header, such as `Authorization`, its contents would be taken for a certificate or refused with each request.
    pattern: /^(?=.*cert)[a-z0-9-]+$/i,
    allowed: 'name of a header with `cert` in it',
    description:
      'Header in which the proxy hands on the client certificate (RFC 9440), such as `Client-Cert`. It is believed: the proxy must remove what a client sends under that name.',
  }),
};

/** Settings of what only the demo starts. */
export const demoSettings = {
  authPort: integer('DEMO_AUTH_PORT', {
    default: 8081,
    min: 0,
    max: 65535,
    description: 'Port of the demo’s authorization server; 0 takes a free one.',
  }),
  pkiPort: integer('DEMO_PKI_PORT', {
    default: 8082,
    min: 0,
    max: 65535,
    description: 'Port of the demo’s OCSP responder and revocation lists; 0 takes a free one.',
  }),
};

/** Limits that are right for everybody. */
export const serverConstants = {
  /**
   * Bytes of request bodies, each with a kilobyte more, that one mount has in work at once; more get 503 (area A: 502). One client may hold
   * half of it; more get 429. In memory they are up to twenty times as large.
   */
  bodiesInProgressBytes: { variable: 'BODIES_IN_PROGRESS_BYTES', value: 8_388_608 },
  /** Largest request head in bytes (a certificate chain travels in one); larger ones get 431. */
  headerLimitBytes: { variable: 'HEADER_LIMIT_BYTES', value: 65_536 },
  /**
   * Milliseconds in which a request must have arrived, and in which its answer must begin; a connection on which nothing moves for twice that
   * is cut.
   */
  requestTimeoutMs: { variable: 'REQUEST_TIMEOUT_MS', value: 30_000 },
  /** Event-loop delay in milliseconds from which requests are shed; 0 never sheds. */
  overloadEventLoopDelayMs: { variable: 'OVERLOAD_EVENT_LOOP_DELAY_MS', value: 1000 },
};

/** Limits that are right for everybody. */
export const databaseConstants = {
  /** Time in milliseconds to get a connection. */
  connectTimeoutMs: { variable: 'DATABASE_CONNECT_TIMEOUT_MS', value: 5000 },
  /** Time in milliseconds that one statement may take. */
  statementTimeoutMs: { variable: 'DATABASE_STATEMENT_TIMEOUT_MS', value: 15_000 },
};

/** Limits that are right for everybody. */
export const tokenConstants = {
  /**
   * How long in seconds the keys of the issuer (and of the FSC Manager, when it publishes them) are used without asking again; longer only
   * while it is away.
   */
  oauthJwksCacheSeconds: { variable: 'OAUTH_JWKS_CACHE_SECONDS', value: 300 },
  /** How long in seconds a verified token is taken without verifying its signature again. */
  oauthTokenCacheSeconds: { variable: 'OAUTH_TOKEN_CACHE_SECONDS', value: 300 },
};
