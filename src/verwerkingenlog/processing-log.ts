import type { Platform, ReadinessCheck } from '../kernel/platform.ts';
import type { ProcessingLog } from '../kernel/processing-log.ts';
import { createOneAtATime } from '../kernel/scheduling.ts';
import { type Appender, createAppender } from './append.ts';
import { createSerialChanges, type SerialChanges } from './changes.ts';
import type { IdentityKeys } from './domain/identity-keys.ts';
import { checkOwnActivities, ownActie } from './own-entries.ts';
import { startRetention } from './retention-schedule.ts';
import { forgetIdempotency } from './store/append.ts';
import { openIdentityKeys } from './store/keys.ts';
import { MONTHS_AHEAD, makeMonths } from './store/months.ts';

/** The processing log as area B itself uses it. */
export interface ActieLog extends ProcessingLog {
  readonly keys: IdentityKeys;
  /** @see Appender.append */
  readonly append: Appender['append'];
  /** @see Appender.count */
  readonly count: Appender['count'];
  readonly changes: SerialChanges;
  readonly checks: readonly ReadinessCheck[];
  close(): Promise<void>;
}

/**
 * Opens the processing log, with its upkeep and retention.
 * @throws {ConfigError} when the configured keys are not those that the log was written with
 */
export async function openProcessingLog(platform: Platform): Promise<ActieLog> {
  const rules = platform.config.verwerkingenlog;
  const keys = await openIdentityKeys(platform.pool, rules.key, 'write');
  if (keys.current === null) {
    platform.log.warn('no VERWERKINGENLOG_KEY: the processing log stores persons’ identifiers in plain text');
  }
  // One action about very many persons at a time in the whole process, appends and changes together.
  const large = createOneAtATime();
  const { append, count, idle } = createAppender(platform, keys, large);
  const upkeep = startUpkeep(platform);
  const retention = startRetention(platform);
  return {
    keys,
    append,
    count,
    changes: createSerialChanges(platform, large),
    checks: [retention.check, { name: 'own activities', vital: false, check: () => checkOwnActivities(platform) }],
    async record(entry, { subject, requestId }) {
      await append(ownActie(entry, rules), { door: subject, verzoekId: requestId }, { isOwn: true });
    },
    async close() {
      await idle();
      await retention.stop();
      await upkeep.stop();
    },
  };
}

const UPKEEP_MS = 3_600_000;

/**
 * Makes partitions ahead and forgets old idempotency keys: at once, and every hour. A failure is logged and tried again the next time;
 * a month that is missing all the same is made by the first append that needs it.
 */
function startUpkeep({ pool, clock, log }: Platform): { stop: () => Promise<void> } {
  const work = async (): Promise<void> => {
    try {
      await makeMonths(pool, clock.now(), MONTHS_AHEAD);
      await forgetIdempotency(pool, clock.now());
    } catch (err) {
      log.warn({ err }, 'the upkeep of the processing log failed and will be tried again');
    }
  };
  let running = work();
  const timer = setInterval(() => {
    running = running.then(work);
  }, UPKEEP_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
