import { choice, exactUrl, flag, integer, optional, setting, text } from '../settings/kinds.ts';
import { aggregatorConstants, aggregatorSettings } from './aggregator/settings.ts';

const raadsfeed = {
  rol: setting(
    'RAADSFEED_ROL',
    choice('bronhouder', 'aggregator'),
    'bronhouder',
    'Publishes its own data, or the feeds of others.',
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
};

export const raadsfeedSettings = {
  raadsfeed,
  ...aggregatorSettings,
  diwoo: {
    isOn: setting(
      'RAADSFEED_DIWOO',
      flag,
      false,
      'Offer documents to the national index (DiWoo): sitemaps at `/woo`, named in `/robots.txt`.',
    ),
  },
  pages: {
    isOn: setting('RAADSFEED_PAGES', flag, false, 'Serve council information as pages, with search, at `/raad`.'),
  },
};

/** Settings that no operator has a reason to change, by group; tests override them. */
export const raadsfeedConstants = {
  raadsfeed: {
    /** Mount: a proxy that shows another path would have to rewrite the links in every record. */
    prefix: '/ori/v1',
    /** Memory in megabytes for pages of history and answers, and for HTML pages made within the last second; 0 keeps none. */
    cacheMb: 64,
    /** `max-age` of a full page of history. A redaction reaches caches within this time. */
    historyMaxAgeSeconds: 60,
    /** `max-age` of the page that reaches the head. */
    headMaxAgeSeconds: 5,
    /** Simultaneous streams; more get 503. This many idle ones take 150 MB. */
    streamMax: 5000,
    /** Simultaneous streams per address (`TRUST_PROXY` says whose); more get 429. 0: no separate limit. */
    streamMaxPerAddress: 100,
    /** Time that a client may leave sent data unread before its stream is cut. */
    streamDrainSeconds: 30,
    /** Time between comment lines on an idle stream. */
    streamHeartbeatSeconds: 15,
    sourcesTimeoutMs: 60_000,
  },
  ...aggregatorConstants,
};
