import { integer, optional, pairs, setting, url } from '../../settings/kinds.ts';

/** Sources of the feed: others' feeds, and the API of NotuBiz. */
export const aggregatorSettings = {
  aggregator: {
    notubizWooCategories: setting(
      'NOTUBIZ_WOO_CATEGORIES',
      pairs(
        /^((?:type|register):[^=]*[^=\s])\s*=\s*([A-Za-z0-9_]+)$/,
        'comma list of `type:name=code`, `register:name=code`',
      ),
      new Map(),
      'Woo categories by type of document, else by register; others have `c_db4862c3`.',
    ),

    ibabsUrl: optional(
      'IBABS_URL',
      url('https', 'http'),
      'Service of iBabs, if not the public one; `http:` needs `AGGREGATOR_ALLOW_PRIVATE`.',
    ),
    ibabsCallsPerMinute: setting(
      'IBABS_CALLS_PER_MINUTE',
      integer(1, 60_000),
      150,
      'Calls a minute to iBabs, for all sources and instances.',
    ),
  },
};

/** Settings that no operator has a reason to change, by group; tests override them. */
export const aggregatorConstants = {
  aggregator: {
    notubizUrl: 'https://api.notubiz.nl',
    /** Minutes between quick readings, which read what was modified in the current quarters. */
    notubizQuickMinutes: 15,
    /** Hours between readings of everything, the whole history included: as often as the supplier's limits allow for many sources. */
    notubizFullHours: 168,
    /** Time between requests to a source that has been read to its end; its own `max-age` may make it longer. */
    pollMs: 5000,
    /** Sources that one instance reads at the same time. */
    concurrency: 4,
    /** Largest answer of a source, after decompression; beyond it smaller pages are requested. */
    maxAnswerBytes: 33_554_432,
    /** Maximum number of records in one snapshot of a source; a longer one counts as endless. */
    maxSnapshotRecords: 20_000_000,
    /** First wait after a failure of a source; doubles with each further one. */
    backoffMs: 1000,
    /** Longest wait after failures of a source; its `Retry-After` may make it longer. */
    backoffMaxMs: 300_000,
    /** Time after which another instance takes over the sources of one that stopped responding. */
    leaseSeconds: 30,
    /** Time after which the call slot of a process that died is free again. */
    callSlotSeconds: 30,
  },
};
