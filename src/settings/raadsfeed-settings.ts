import { choice, flag, integer, prefix, text, url } from './kinds.ts';

const WEB = ['https', 'http'];

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
  sourcesAllowPrivate: flag('AGGREGATOR_ALLOW_PRIVATE', {
    default: false,
    description: 'Calls sources at loopback and private addresses too.',
  }),
  register: flag('RAADSFEED_REGISTER', { default: false, description: 'Keep and serve a register of feeds.' }),
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
  /** Time for one answer of a source. */
  sourcesTimeoutMs: { variable: 'AGGREGATOR_TIMEOUT_MS', value: 60_000 },
};
