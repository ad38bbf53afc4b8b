import { choice, flag, integer, list, prefix, text, url } from './kinds.ts';

const WEB = ['https', 'http'];

const NAME_AND_CODE = /^\s*[^=]*[^=\s]\s*=\s*[A-Za-z0-9_]+\s*$/;

/** Settings of the NotuBiz API as a source of area C. */
const notubizSettings = {
  notubizUrl: url('NOTUBIZ_URL', {
    schemes: ['https', 'http'],
    description: 'Base address of the NotuBiz API. Absent: its public one.',
  }),
  notubizQuickMinutes: integer('NOTUBIZ_QUICK_MINUTES', {
    default: 15,
    min: 1,
    max: 10_080,
    description: 'Time between readings of the current quarters: what was modified.',
  }),
  notubizFullHours: integer('NOTUBIZ_FULL_HOURS', {
    default: 168,
    min: 1,
    max: 8760,
    description: 'Time between readings of everything, all of history included.',
  }),
  notubizWooTypes: list('NOTUBIZ_WOO_TYPES', {
    item: NAME_AND_CODE,
    allowed: 'comma list of `type=code`, such as `Raadsvoorstel=c_db4862c3`',
    description: 'Woo categories by type of document; others have `c_db4862c3`.',
  }),
  notubizWooRegisters: list('NOTUBIZ_WOO_REGISTERS', {
    item: NAME_AND_CODE,
    allowed: 'comma list of `register=code`, by name or number',
    description: 'Woo categories by register, for documents of which the type has none.',
  }),
};

/** Settings of area C. */
export const raadsfeedSettings = {
  prefix: prefix('RAADSFEED_PREFIX', { default: '/ori/v1', description: 'Mount of the council feed.' }),
  rol: choice('RAADSFEED_ROL', ['bronhouder', 'aggregator'], {
    default: 'bronhouder',
    description: 'Source holder of its own data, or aggregator of others’ feeds.',
  }),
  contact: url('RAADSFEED_CONTACT', {
    schemes: ['mailto', ...WEB],
    exact: true,
    description: '`contact` in the service document.',
  }),
  licentie: url('RAADSFEED_LICENTIE', {
    schemes: WEB,
    exact: true,
    description: '`licentie` in the service document.',
  }),
  retentie: text('RAADSFEED_RETENTIE', {
    default: 'permanent',
    pattern: /^(permanent|P(?=[0-9])([0-9]+Y)?([0-9]+M)?([0-9]+D)?|P[0-9]+W)$/,
    allowed: '`permanent`, or an ISO 8601 duration in years, months and days, or weeks',
    description: '`retentie` in the service document; `feed prune` is what removes history.',
  }),
  rateLimit: integer('RAADSFEED_RATE_LIMIT', {
    default: 6000,
    min: 0,
    max: 10_000_000,
    description: 'Requests per minute per address; 0 is no limit.',
  }),
  cacheMb: integer('RAADSFEED_CACHE_MB', {
    default: 64,
    min: 0,
    max: 65_536,
    description:
      'Memory in megabytes for pages of history and answers, and for pages for people that were made within the last second; 0 keeps none.',
  }),
  streamMax: integer('RAADSFEED_STREAM_MAX', {
    default: 5000,
    min: 0,
    max: 100_000,
    description: 'Streams at once; more get 503.',
  }),
  aggregatorAllowPrivate: flag('AGGREGATOR_ALLOW_PRIVATE', {
    default: false,
    description: 'Calls sources at loopback and private addresses too.',
  }),
  aggregatorIds: flag('AGGREGATOR_IDS', {
    default: false,
    description: 'Gives every record an `aggregatorId`: UUID version 5 of its identity.',
  }),
  register: flag('RAADSFEED_REGISTER', { default: false, description: 'Keep and serve a register of feeds.' }),
  pages: flag('RAADSFEED_PAGES', {
    default: false,
    description: 'Serve the council information as pages for people, with search, at `/raad`.',
  }),
  diwoo: flag('RAADSFEED_DIWOO', {
    default: false,
    description: 'Offer the documents to the national index (DiWoo): sitemaps at `/woo`, named by `/robots.txt`.',
  }),
  ...notubizSettings,
};

/** Limits that are right for everybody. */
export const raadsfeedConstants = {
  /** `max-age` of a full page of history. A redaction reaches caches within this time. */
  historyMaxAgeSeconds: { variable: 'RAADSFEED_HISTORY_MAX_AGE_SECONDS', value: 60 },
  /** `max-age` of the page that reaches the head. */
  headMaxAgeSeconds: { variable: 'RAADSFEED_HEAD_MAX_AGE_SECONDS', value: 5 },
  /** Streams at once per address (`TRUST_PROXY` says whose); more get 429. 0 is no limit of its own. */
  streamMaxPerAddress: { variable: 'RAADSFEED_STREAM_MAX_PER_ADDRESS', value: 100 },
  /** Unread bytes after which a live stream gets no more: what is new is read for it alone, as its client takes it. */
  streamBufferBytes: { variable: 'RAADSFEED_STREAM_BUFFER_BYTES', value: 1_048_576 },
  /** Time that a stream may leave what was sent unread; then it is cut off. */
  streamDrainSeconds: { variable: 'RAADSFEED_STREAM_DRAIN_SECONDS', value: 30 },
  /** Time between comment lines on an idle stream. */
  streamHeartbeatSeconds: { variable: 'RAADSFEED_STREAM_HEARTBEAT_SECONDS', value: 15 },
  /** Time between looks at a source that has been read to its end; its own `max-age` may make it longer. */
  aggregatorPollMs: { variable: 'AGGREGATOR_POLL_MS', value: 5000 },
  /** Sources that one instance reads at the same time. */
  aggregatorConcurrency: { variable: 'AGGREGATOR_CONCURRENCY', value: 4 },
  /** Time for one answer of a source. */
  aggregatorTimeoutMs: { variable: 'AGGREGATOR_TIMEOUT_MS', value: 60_000 },
  /** Largest answer of a source, after decompression; smaller pages are asked for when one is larger. */
  aggregatorMaxAnswerBytes: { variable: 'AGGREGATOR_MAX_ANSWER_BYTES', value: 33_554_432 },
  /** Records of one snapshot of a source at most; one that goes on is taken for one without an end. */
  aggregatorMaxSnapshotRecords: { variable: 'AGGREGATOR_MAX_SNAPSHOT_RECORDS', value: 20_000_000 },
  /** First wait after a failure of a source; doubles with each further one. */
  aggregatorBackoffMs: { variable: 'AGGREGATOR_BACKOFF_MS', value: 1000 },
  /** Longest wait after failures of a source; its `Retry-After` may make it longer. */
  aggregatorBackoffMaxMs: { variable: 'AGGREGATOR_BACKOFF_MAX_MS', value: 300_000 },
  /** Time after which another instance takes over the sources of one that fell silent. */
  aggregatorLeaseSeconds: { variable: 'AGGREGATOR_LEASE_SECONDS', value: 30 },
};
