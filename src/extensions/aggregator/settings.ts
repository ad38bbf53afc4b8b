import { flag, integer, list, url } from '../../settings/kinds.ts';
import type { Config } from '../../settings/read-config.ts';

declare module '../../settings/read-config.ts' {
  interface SettingGroups {
    readonly aggregator: typeof settings.aggregator;
  }
  interface ConstantGroups {
    readonly aggregator: typeof constants.aggregator;
  }
}

const NAME_AND_CODE = /^\s*[^=]*[^=\s]\s*=\s*[A-Za-z0-9_]+\s*$/;

/** Sources of the feed: others' feeds, and the API of NotuBiz. */
export const settings = {
  aggregator: {
    ids: flag('AGGREGATOR_IDS', {
      default: false,
      description: 'Gives every record an `aggregatorId`: UUID version 5 of its identity.',
    }),

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
  },
};

/** Limits that are right for everybody. */
export const constants = {
  aggregator: {
    /** Time between looks at a source that has been read to its end; its own `max-age` may make it longer. */
    pollMs: { variable: 'AGGREGATOR_POLL_MS', value: 5000 },
    /** Sources that one instance reads at the same time. */
    concurrency: { variable: 'AGGREGATOR_CONCURRENCY', value: 4 },
    /** Largest answer of a source, after decompression; smaller pages are asked for when one is larger. */
    maxAnswerBytes: { variable: 'AGGREGATOR_MAX_ANSWER_BYTES', value: 33_554_432 },
    /** Records of one snapshot of a source at most; one that goes on is taken for one without an end. */
    maxSnapshotRecords: { variable: 'AGGREGATOR_MAX_SNAPSHOT_RECORDS', value: 20_000_000 },
    /** First wait after a failure of a source; doubles with each further one. */
    backoffMs: { variable: 'AGGREGATOR_BACKOFF_MS', value: 1000 },
    /** Longest wait after failures of a source; its `Retry-After` may make it longer. */
    backoffMaxMs: { variable: 'AGGREGATOR_BACKOFF_MAX_MS', value: 300_000 },
    /** Time after which another instance takes over the sources of one that fell silent. */
    leaseSeconds: { variable: 'AGGREGATOR_LEASE_SECONDS', value: 30 },
  },
};

export const isServed = ({ raadsfeed, server }: Config): boolean =>
  raadsfeed.rol === 'aggregator' && server.areas.includes('raadsfeed');
