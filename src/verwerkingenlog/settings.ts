import { UUID_DIGITS } from '../lib/patterns.ts';
import { flag, optional, pairs, secret, setting, term, text } from '../settings/kinds.ts';
import { inzageConstants, inzageSettings } from './inzage/settings.ts';
import { ldvConstants, ldvSettings } from './ldv/settings.ts';

const verwerkingenlog = {
  checkBsn: setting('VERWERKINGENLOG_CHECK_BSN', flag, false, 'Check `BSN` numbers by the eleven test.'),
  key: secret(
    'VERWERKINGENLOG_KEY',
    text(
      /^[a-z0-9-]{1,16}:[A-Za-z0-9+/]{43}=(,[a-z0-9-]{1,16}:[A-Za-z0-9+/]{43}=)*$/,
      'comma list of `name:base64 of 32 bytes`, the current first',
    ),
    'Keys that encrypt persons’ identifiers at rest; later ones only decrypt. Required in production; elsewhere one is made in `KOPPELVLAK_HOME`.',
  ),
  minRetention: setting(
    'VERWERKINGENLOG_MIN_RETENTION',
    term,
    'P1Y',
    'Shortest time from first registration to removal, whatever the `bewaartermijn`.',
  ),
  maxRetention: optional(
    'VERWERKINGENLOG_MAX_RETENTION',
    term,
    'Term, from `tijdstip`, when neither the action nor its activity has one. Absent: kept.',
  ),
  ownRetention: setting(
    'VERWERKINGENLOG_OWN_RETENTION',
    term,
    'P10Y',
    'Shortest term of the service’s own entries (deliveries, readings of the log). Callers may ask up to `P20Y`.',
  ),
  ownActivities: setting(
    'VERWERKINGENLOG_OWN_ACTIVITIES',
    pairs(new RegExp(`^(shv|vs|log)=(${UUID_DIGITS})$`), 'comma list of `shv=uuid`, `vs=uuid`, `log=uuid`'),
    new Map(),
    'Activities that deliveries and readings of the log are logged under. Absent: built-in ones.',
  ),
};

export const verwerkingenlogSettings = { verwerkingenlog, ...inzageSettings, ...ldvSettings };

/** Settings that no operator has a reason to change, by group; tests override them. */
export const verwerkingenlogConstants = {
  verwerkingenlog: {
    prefix: '/verwerkingenlog/v1',
    /** Requests per minute per client; unlimited, because applications must never be tempted to skip logging. */
    rateLimit: 0,
    /** Reading the log writes an entry in the same transaction: every reading of a person's data is accounted for (GDPR, article 5). */
    logReads: true,
    /** How long an action stays after a change that brought its removal forward: time to notice an irreversible mistake. */
    retentionGrace: 'P30D',
    /** Appends that share one transaction; 1 switches grouping off. */
    groupSize: 256,
    /** Changes of one processing or action that may wait for each other in a process; one more gets 503. */
    changesWaiting: 32,
  },
  ...inzageConstants,
  ...ldvConstants,
};
