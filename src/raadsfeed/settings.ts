import { choice, exactUrl, fixed, flag, integer, optional, setting, text } from '../settings/kinds.ts';
import { aggregatorSettings } from './aggregator/settings.ts';
import { diwooSettings } from './diwoo/settings.ts';
import { pagesSettings } from './pages/settings.ts';

const raadsfeed = {
  rol: setting(
    'RAADSFEED_ROL',
    choice('bronhouder', 'aggregator'),
    'bronhouder',
    'Publishes its own data, or others’ feeds.',
  ),
  contact: optional('RAADSFEED_CONTACT', exactUrl('mailto', 'https', 'http'), '`contact` in the service document.'),
  licentie: optional('RAADSFEED_LICENTIE', exactUrl('https', 'http'), '`licentie` in the service document.'),
  retentie: setting(
    'RAADSFEED_RETENTIE',
    text(
      /^(permanent|P(?=[0-9])([0-9]+Y)?([0-9]+M)?([0-9]+D)?|P[0-9]+W)$/,
      '`permanent`, or an ISO 8601 duration of whole days',
    ),
    'permanent',
    '`retentie` in the service document; `feed prune` removes.',
  ),
  rateLimit: setting(
    'RAADSFEED_RATE_LIMIT',
    integer(0, 10_000_000),
    6000,
    'Requests a minute per address; 0: no limit.',
  ),
  sourcesAllowPrivate: setting(
    'AGGREGATOR_ALLOW_PRIVATE',
    flag,
    false,
    'Read sources at loopback and private addresses too.',
  ),
  register: setting('RAADSFEED_REGISTER', flag, false, 'Keep and serve a register of feeds.'),

  /** Mount: a proxy that shows another path would have to rewrite the links in every record. */
  prefix: fixed('RAADSFEED_PREFIX', '/ori/v1', text()),
  /** Memory in megabytes for pages of history and answers, and for pages for people that were made within the last second; 0 keeps none. */
  cacheMb: fixed('RAADSFEED_CACHE_MB', 64),
  /** `max-age` of a full page of history. A redaction reaches caches within this time. */
  historyMaxAgeSeconds: fixed('RAADSFEED_HISTORY_MAX_AGE_SECONDS', 60),
  /** `max-age` of the page that reaches the head. */
  headMaxAgeSeconds: fixed('RAADSFEED_HEAD_MAX_AGE_SECONDS', 5),
  /** Streams at once; more get 503. So many idle ones take 150 MB. */
  streamMax: fixed('RAADSFEED_STREAM_MAX', 5000),
  /** Streams at once per address (`TRUST_PROXY` says whose); more get 429. 0 is no limit of its own. */
  streamMaxPerAddress: fixed('RAADSFEED_STREAM_MAX_PER_ADDRESS', 100),
  /** Time that a stream may leave what was sent unread; then it is cut off. */
  streamDrainSeconds: fixed('RAADSFEED_STREAM_DRAIN_SECONDS', 30),
  /** Time between comment lines on an idle stream. */
  streamHeartbeatSeconds: fixed('RAADSFEED_STREAM_HEARTBEAT_SECONDS', 15),
  /** Time for one answer of a source. */
  sourcesTimeoutMs: fixed('AGGREGATOR_TIMEOUT_MS', 60_000),
};

/** Settings of area C and its features, by group. */
export const raadsfeedSettings = { raadsfeed, ...aggregatorSettings, ...diwooSettings, ...pagesSettings };
