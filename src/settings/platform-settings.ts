import {
  choice,
  choices,
  exactUrl,
  file,
  fixed,
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
const ADDRESSES = /^https?:\/\/[^\s,/?#@]+(\/[^\s,?#]*)?$/;

/** Settings of the process and its listeners. */
export const serverSettings = {
  areas: setting('AREAS', choices(...AREAS), AREAS, 'Which interfaces this process serves.'),
  host: setting('HOST', text(), '127.0.0.1', 'Address that the public listener binds to.'),
  port: setting('PORT', port, 8080, 'Port of the public listener; 0 takes a free one.'),
  managementHost: setting(
    'MANAGEMENT_HOST',
    text(),
    '127.0.0.1',
    'Address that the management listener (health, metrics) binds to.',
  ),
  managementPort: setting('MANAGEMENT_PORT', port, 9090, 'Port of the management listener; 0 takes a free one.'),
  publicBaseUrl: optional(
    'PUBLIC_BASE_URL',
    url(...WEB),
    'Address that clients see, the root of every absolute link in an answer. Absent: the address listened on.',
  ),
  home: setting('KOPPELVLAK_HOME', text(), '.koppelvlak', 'Directory of the embedded database and of the demo.'),
  organisation: optional(
    'ORGANISATION_NAME',
    text(/^[^\p{Cc}]{1,100}$/u, 'text of at most 100 characters'),
    'Name of the organisation whose data this is: as pages and the reading of LDV say it, label `organisation` of every metric, and in every log line.',
  ),
  environment: setting(
    'NODE_ENV',
    choice('development', 'test', 'production'),
    'development',
    'With `production` the embedded database, the demo and settings that are meant for tests are refused.',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'Least severe log line that is written.',
  ),
  trustProxy: optional('TRUST_PROXY', proxies, 'Whose `X-Forwarded-For` counts. Absent: nobody’s.'),
  outboundProxy: secret(
    'OUTBOUND_PROXY',
    urlWithLogin('http', 'https'),
    'Forward proxy for calls to others (revocation, issuers, feeds), with credentials if it asks for them. Absent: called directly.',
  ),
  outboundNoProxy: setting(
    'OUTBOUND_NO_PROXY',
    list(/^[A-Za-z0-9_.:[\]*-]+$/, 'comma list of hosts, `.example.nl` for all below it'),
    [],
    'Hosts that are called without `OUTBOUND_PROXY`.',
  ),
  tracingEndpoint: optional(
    'TRACING_ENDPOINT',
    url(...WEB),
    'Collector of OpenTelemetry, without `/v1/traces`, that traces of requests go to (OTLP over HTTP, protobuf). Never an address of LDV. Absent: no tracing.',
  ),
  shutdownDrainMs: setting(
    'SHUTDOWN_DRAIN_MS',
    integer(0, 600_000),
    5000,
    'Time in milliseconds after `SIGTERM` in which everything is still served, with readiness 503, so that balancers go elsewhere; then two seconds for connections that are open. 0: stops at once. The demo has 0.',
  ),
  securityTxt: optional(
    'SECURITY_TXT',
    file,
    'The `/.well-known/security.txt` (RFC 9116) that says where to report a vulnerability, with a `Contact` and an `Expires`; after it, and without a file, that address is 404.',
  ),

  /** Time in milliseconds to finish running requests once nothing new is taken: a third of the time that one may take, and most take far less. */
  shutdownTimeoutMs: fixed('SHUTDOWN_TIMEOUT_MS', 10_000),
  /** Largest request body in bytes (LDV has its own limit); larger ones get 413. The largest that the contracts allow is a tenth of it. */
  bodyLimitBytes: fixed('BODY_LIMIT_BYTES', 1_048_576),
  /**
   * Bytes of request bodies, each with a kilobyte more, that one mount has in work at once; more get 503 (area A: 502). One client may hold
   * half of it; more get 429. In memory they are up to twenty times as large.
   */
  bodiesInProgressBytes: fixed('BODIES_IN_PROGRESS_BYTES', 8_388_608),
  /**
   * Bytes of whole answers of one mount that their readers have not taken; beyond it the one that waits longest is cut off. One client that
   * does not read may have a quarter of it; then it gets 429. Streams of the feed may hold a quarter of this beside it, and those of one
   * address a quarter of that. Only an attack or very slow readers come near it.
   */
  unreadAnswersBytes: fixed('UNREAD_ANSWERS_BYTES', 268_435_456),
  /** Largest request head in bytes (a certificate chain travels in one); larger ones get 431. */
  headerLimitBytes: fixed('HEADER_LIMIT_BYTES', 65_536),
  /**
   * Milliseconds in which a request must have arrived, and in which its answer must begin; a connection on which nothing moves for twice that
   * is cut.
   */
  requestTimeoutMs: fixed('REQUEST_TIMEOUT_MS', 30_000),
  /** Event-loop delay in milliseconds from which requests are shed; 0 never sheds. */
  overloadEventLoopDelayMs: fixed('OVERLOAD_EVENT_LOOP_DELAY_MS', 1000),
  traceContextTo: setting(
    'TRACE_CONTEXT_TO',
    list(ADDRESSES, 'comma list of addresses with `http:` or `https:`'),
    [],
    'Addresses (and all below them) that calls to feeds carry a `traceparent` to, beside `LDV_FORWARD_URL`. Never responders, issuers or suppliers.',
  ),
};

/** Settings of the database. */
export const databaseSettings = {
  url: postgresUrl(
    'DATABASE_URL',
    'Postgres 15 or newer; with several hosts as for libpq, such as `…@db1,db2/koppelvlak?target_session_attrs=read-write`. Absent: an embedded Postgres under `KOPPELVLAK_HOME`, not meant for production.',
  ),
  migrationUrl: postgresUrl('DATABASE_MIGRATION_URL', 'Login of the owner, for migrations. Absent: `DATABASE_URL`.'),
  listenUrl: postgresUrl(
    'DATABASE_LISTEN_URL',
    'Direct connection for `LISTEN` when `DATABASE_URL` is a pooler. Absent: `DATABASE_URL`, or polling with a pooler.',
  ),
  readUrl: postgresUrl(
    'DATABASE_READ_URL',
    'Replica for the reads of the feed; while it is away they go to `DATABASE_URL`. One replica: an address that divides over several would show an older head now and then. Absent: `DATABASE_URL`.',
  ),
  pruneUrl: postgresUrl(
    'DATABASE_PRUNE_URL',
    'Login of the retention role (`koppelvlak_opschoner`). Absent: `DATABASE_URL`, switched to that role.',
  ),
  pooler: setting(
    'DATABASE_POOLER',
    choice('none', 'transaction'),
    'none',
    '`transaction` when `DATABASE_URL` is a pgbouncer in transaction mode: no session settings, no named statements.',
  ),
  migrate: setting('DATABASE_MIGRATE', flag, true, 'Migrate at start.'),
  poolSize: setting(
    'DATABASE_POOL_SIZE',
    integer(2, 200),
    10,
    'Connections per process for the data exchange and for reads of the feed each; half as many for changes of the processing log, for logged reads of it, and for publishing each. All together at most 3.5 times this and 7.',
  ),

  /** Seconds after which an unused connection is closed: few are open where many processes share a server, and a new one takes milliseconds. */
  idleSeconds: fixed('DATABASE_IDLE_SECONDS', 5),
  /** Time in milliseconds to get a connection. */
  connectTimeoutMs: fixed('DATABASE_CONNECT_TIMEOUT_MS', 5000),
  /** Time in milliseconds that one statement may take. */
  statementTimeoutMs: fixed('DATABASE_STATEMENT_TIMEOUT_MS', 15_000),
};

/** Such an address may hold a password. */
function postgresUrl(variable: string, description: string): ReturnType<typeof secret<string>> {
  return secret(variable, postgres, description);
}

/** Settings of access tokens, both kinds of issuer. */
export const tokenSettings = {
  oauthIssuer: optional(
    'OAUTH_ISSUER',
    // Tokens and metadata name it to the letter (RFC 8414 section 3.3).
    exactUrl(...WEB),
    'Issuer of OAuth access tokens, as they name it; switches this kind on. `https:` in production.',
  ),
  oauthAudience: optional('OAUTH_AUDIENCE', text(), 'Audience that an OAuth token must name.'),
  oauthJwksUrl: optional(
    'OAUTH_JWKS_URL',
    url(...WEB),
    'Keys of the issuer. Absent: found by discovery from the issuer. `https:` in production.',
  ),
  oauthOinClaim: optional(
    'OAUTH_OIN_CLAIM',
    text(),
    'Claim of an OAuth token with the OIN of its client: in area A it must be the OIN of the signer.',
  ),
  oauthClientOins: setting(
    'OAUTH_CLIENT_OINS',
    pairs(/^([^,=]+)=(\d{20})$/, 'comma list of client=OIN (20 digits)'),
    new Map(),
    'OINs of OAuth clients whose tokens lack that claim: in area A it must be the OIN of the signer.',
  ),
  fscCertificates: optional(
    'FSC_TOKEN_CERTIFICATES',
    text(undefined, 'path of a PEM bundle, or address of a JSON Web Key Set'),
    'Certificates that the Manager signs FSC tokens with (a changed file is taken up), or its `/.well-known/jwks.json` (`https:` in production); switches this kind on.',
  ),
  fscGroupId: optional('FSC_GROUP_ID', text(), 'Group (`gid`) that an FSC token must name.'),
  fscAudience: setting(
    'FSC_AUDIENCE',
    list(/^\S+$/, 'comma list of addresses'),
    [],
    'Addresses of the Inways (`aud`), one of which an FSC token must name; a slash at the end does not matter.',
  ),
  fscPeerId: optional('FSC_PEER_ID', text(), 'Own peer id (`iss`) that an FSC token must name.'),
  clientCertificateHeader: optional(
    'CLIENT_CERT_HEADER',
    // Of another header, such as `Authorization`, its contents would be taken for a certificate or refused with each request.
    text(/^(?=.*cert)[a-z0-9-]+$/i, 'name of a header with `cert` in it'),
    'Header in which the proxy hands on the client certificate (RFC 9440), such as `Client-Cert`. It is believed: the proxy must remove what a client sends under that name.',
  ),

  /**
   * How long in seconds the keys of the issuer (and of the FSC Manager, when it publishes them) are used without asking again; longer only
   * while it is away.
   */
  oauthJwksCacheSeconds: fixed('OAUTH_JWKS_CACHE_SECONDS', 300),
  /** How long in seconds a verified token is taken without verifying its signature again. */
  oauthTokenCacheSeconds: fixed('OAUTH_TOKEN_CACHE_SECONDS', 300),
};

/** Settings of what only the demo starts. */
export const demoSettings = {
  authPort: setting('DEMO_AUTH_PORT', port, 8081, 'Port of the demo’s authorization server; 0 takes a free one.'),
  pkiPort: setting(
    'DEMO_PKI_PORT',
    port,
    8082,
    'Port of the demo’s OCSP responder and revocation lists; 0 takes a free one.',
  ),
};
