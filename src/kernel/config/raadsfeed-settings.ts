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
  historyMaxAgeSeconds: integer('RAADSFEED_HISTORY_MAX_AGE_SECONDS', {
    default: 60,
    min: 0,
    max: 86_400,
    description: '`max-age` of a full page of history. A redaction reaches caches within this time.',
  }),
  headMaxAgeSeconds: integer('RAADSFEED_HEAD_MAX_AGE_SECONDS', {
    default: 5,
    min: 0,
    max: 3600,
    description: '`max-age` of the page that reaches the head.',
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
  streamMaxPerAddress: integer('RAADSFEED_STREAM_MAX_PER_ADDRESS', {
    default: 100,
    min: 0,
    max: 100_000,
    description: 'Streams at once per address (`TRUST_PROXY` says whose); more get 429. 0 is no limit of its own.',
  }),
  streamBufferBytes: integer('RAADSFEED_STREAM_BUFFER_BYTES', {
    default: 1_048_576,
    min: 16_384,
    max: 104_857_600,
    description:
      'Unread bytes after which a live stream gets no more: what is new is read for it alone, as its client takes it.',
  }),
  streamDrainSeconds: integer('RAADSFEED_STREAM_DRAIN_SECONDS', {
    default: 30,
    min: 1,
    max: 3600,
    description: 'Time that a stream may leave what was sent unread; then it is cut off.',
  }),
  streamHeartbeatSeconds: integer('RAADSFEED_STREAM_HEARTBEAT_SECONDS', {
    default: 15,
    min: 1,
    max: 300,
    description: 'Time between comment lines on an idle stream.',
  }),
  aggregatorPollMs: integer('AGGREGATOR_POLL_MS', {
    default: 5000,
    min: 50,
    max: 86_400_000,
    description: 'Time between looks at a source that has been read to its end; its own `max-age` may make it longer.',
  }),
  aggregatorConcurrency: integer('AGGREGATOR_CONCURRENCY', {
    default: 4,
    min: 1,
    max: 64,
    description: 'Sources that one instance reads at the same time.',
  }),
  aggregatorTimeoutMs: integer('AGGREGATOR_TIMEOUT_MS', {
    default: 60_000,
    min: 100,
    max: 600_000,
    description: 'Time for one answer of a source.',
  }),
  aggregatorMaxAnswerBytes: integer('AGGREGATOR_MAX_ANSWER_BYTES', {
    default: 33_554_432,
    min: 16_384,
    max: 268_435_456,
    description: 'Largest answer of a source, after decompression; smaller pages are asked for when one is larger.',
  }),
  aggregatorMaxSnapshotRecords: integer('AGGREGATOR_MAX_SNAPSHOT_RECORDS', {
    default: 20_000_000,
    min: 1000,
    max: 1_000_000_000,
    description: 'Records of one snapshot of a source at most; one that goes on is taken for one without an end.',
  }),
  aggregatorBackoffMs: integer('AGGREGATOR_BACKOFF_MS', {
    default: 1000,
    min: 10,
    max: 3_600_000,
    description: 'First wait after a failure of a source; doubles with each further one.',
  }),
  aggregatorBackoffMaxMs: integer('AGGREGATOR_BACKOFF_MAX_MS', {
    default: 300_000,
    min: 10,
    max: 86_400_000,
    description: 'Longest wait after failures of a source; its `Retry-After` may make it longer.',
  }),
  aggregatorLeaseSeconds: integer('AGGREGATOR_LEASE_SECONDS', {
    default: 30,
    min: 1,
    max: 3600,
    description: 'Time after which another instance takes over the sources of one that fell silent.',
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
