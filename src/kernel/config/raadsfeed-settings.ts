import { choice, flag, integer, prefix, text, url } from './kinds.ts';
import { notubizSettings } from './notubiz-settings.ts';

const WEB = ['https', 'http'];

/** Settings of area C. */
export const raadsfeedSettings = {
  prefix: prefix('RAADSFEED_PREFIX', { default: '/ori/v1', description: 'Mount of the council feed.' }),
  rol: choice('RAADSFEED_ROL', ['bronhouder', 'aggregator'], {
    default: 'bronhouder',
    description: 'Source holder of its own data, or aggregator of others’ feeds.',
  }),
  contact: url('RAADSFEED_CONTACT', { schemes: ['mailto', ...WEB], description: '`contact` in the service document.' }),
  licentie: url('RAADSFEED_LICENTIE', { schemes: WEB, description: '`licentie` in the service document.' }),
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
    description: 'Memory in megabytes for pages of history; 0 keeps none.',
  }),
  streamMax: integer('RAADSFEED_STREAM_MAX', {
    default: 5000,
    min: 0,
    max: 100_000,
    description: 'Streams at once; more get 503.',
  }),
  streamBufferBytes: integer('RAADSFEED_STREAM_BUFFER_BYTES', {
    default: 1_048_576,
    min: 16_384,
    max: 104_857_600,
    description: 'Unread bytes after which a stream is cut off.',
  }),
  streamDrainSeconds: integer('RAADSFEED_STREAM_DRAIN_SECONDS', {
    default: 30,
    min: 1,
    max: 3600,
    description: 'Time that a stream that catches up may leave what was sent unread; then it is cut off.',
  }),
  streamHeartbeatSeconds: integer('RAADSFEED_STREAM_HEARTBEAT_SECONDS', {
    default: 15,
    min: 1,
    max: 300,
    description: 'Time between comment lines on an idle stream.',
  }),
  register: flag('RAADSFEED_REGISTER', { default: false, description: 'Keep and serve a register of feeds.' }),
  ...notubizSettings,
};
