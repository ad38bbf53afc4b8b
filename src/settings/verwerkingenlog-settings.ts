import { choice, flag, integer, optionalTerm, optionalText, pairs, prefix, term } from './kinds.ts';

/** Settings of area B. */
export const verwerkingenlogSettings = {
  prefix: prefix('VERWERKINGENLOG_PREFIX', {
    default: '/verwerkingenlog/v1',
    description: 'Mount of the processing log.',
  }),
  rateLimit: integer('VERWERKINGENLOG_RATE_LIMIT', {
    default: 0,
    min: 0,
    max: 10_000_000,
    description: 'Requests per minute per client; 0 is no limit (applications must never be tempted to skip logging).',
  }),
  checkBsn: flag('VERWERKINGENLOG_CHECK_BSN', {
    default: false,
    description: 'Check citizen service numbers (`BSN`) by their eleven test.',
  }),
  logReads: flag('VERWERKINGENLOG_LOG_READS', {
    default: true,
    description: 'Reading the log writes an entry of its own, in the transaction of the read.',
  }),
  key: optionalText('VERWERKINGENLOG_KEY', {
    secret: true,
    pattern: /^[a-z0-9-]{1,16}:[A-Za-z0-9+/]{43}=(,[a-z0-9-]{1,16}:[A-Za-z0-9+/]{43}=)*$/,
    allowed: 'comma list of `name:base64 of 32 bytes`, the current key first',
    description:
      'Keys that encrypt persons’ identifiers at rest; later ones still decrypt. Absent: stored as they come, which production refuses.',
  }),
  unknownActivity: choice('VERWERKINGENLOG_UNKNOWN_ACTIVITY', ['accept', 'refuse'], {
    default: 'accept',
    description: 'What happens to an action whose `verwerkingsactiviteitId` is not in this register.',
  }),
  pruneIntervalMinutes: integer('VERWERKINGENLOG_PRUNE_INTERVAL_MINUTES', {
    default: 0,
    min: 0,
    max: 43_200,
    description:
      'How often in minutes actions past their `bewaartermijn` are removed; 0 leaves that to `koppelvlak log prune`.',
  }),
  minRetention: term('VERWERKINGENLOG_MIN_RETENTION', {
    default: 'P1Y',
    description: 'No action is removed sooner after it was first registered, whatever its `bewaartermijn`.',
  }),
  retentionGrace: term('VERWERKINGENLOG_RETENTION_GRACE', {
    default: 'P30D',
    description: 'How long an action stays after a change that brought its removal forward.',
  }),
  maxRetention: optionalTerm('VERWERKINGENLOG_MAX_RETENTION', {
    description:
      'Term, from `tijdstip`, of actions without one whose activity has none either. Absent: those are kept.',
  }),
  ownRetention: term('VERWERKINGENLOG_OWN_RETENTION', {
    default: 'P10Y',
    description:
      'Shortest term of the service’s own entries (deliveries, readings of the log); a caller may ask up to `P20Y`.',
  }),
  ownActivities: pairs('VERWERKINGENLOG_OWN_ACTIVITIES', {
    item: /^(shv|vs|log)=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
    allowed: 'comma list of `shv=uuid`, `vs=uuid`, `log=uuid`',
    description:
      'Activity in the register of deliveries SHV, of deliveries VS and of readings of the log. Absent: one that the register begins with.',
  }),
};

/** Limits that are right for everybody. */
export const verwerkingenlogConstants = {
  /** Most appends that share one transaction; 1 switches grouping off. */
  groupSize: { variable: 'VERWERKINGENLOG_GROUP_SIZE', value: 256 },
  /** Changes of one processing or action that may wait for each other in a process; one more gets 503. */
  changesWaiting: { variable: 'VERWERKINGENLOG_CHANGES_WAITING', value: 32 },
};
