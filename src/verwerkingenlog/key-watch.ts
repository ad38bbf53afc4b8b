/** The keys of a running instance: whether they are still those of the log, which other instances can change at any time. */

import { randomUUID } from 'node:crypto';
import type { Db } from '../database/transaction.ts';
import type { ReadinessCheck, ReadinessResult } from '../seams/operations.ts';
import { type IdentityKeys, UnknownKeyError } from './domain/identity-keys.ts';
import type { LogNeeds } from './processing-log.ts';
import {
  endOfLife,
  type KeyState,
  namesIn,
  openIdentityKeys,
  otherKeysInUse,
  readKeyState,
  signOfLife,
} from './store/keys.ts';

export interface KeyWatch {
  /** Their names change when versions may be stored without a key from now on, or no longer. */
  readonly keys: IdentityKeys;
  /**
   * Refuses an answer that may be incomplete. Call it after what was read: what another instance stored with a new key before that is
   * seen here.
   * @throws {UnknownKeyError} when versions may have a key that this instance does not have
   */
  readonly requireAll: (db: Db) => Promise<void>;
  readonly check: ReadinessCheck;
  stop(): Promise<void>;
}

const LOOK_MS = 5000;
const SPELLED =
  'what earlier releases stored is found only by the kind and number as they were written then: run `koppelvlak log rotate-key`';

/** @throws {ConfigError} when the configured keys are not those that the log was written with */
export async function watchKeys({ pool, config, log }: Pick<LogNeeds, 'pool' | 'config' | 'log'>): Promise<KeyWatch> {
  const opened = await openIdentityKeys(pool, config.verwerkingenlog.key, 'write');
  const instance = randomUUID();
  /** All that are configured, and no key. */
  const every: IdentityKeys = { ...opened, names: [...opened.names.filter((name) => name !== null), null] };
  let state = await readKeyState(pool, every);
  await signOfLife(pool, instance, every);

  const look = async (): Promise<void> => {
    try {
      await signOfLife(pool, instance, every);
      state = await readKeyState(pool, every);
    } catch (err) {
      log.warn({ err }, 'the keys of the processing log could not be compared, which is tried again in a few seconds');
    }
  };
  let running: Promise<void> | undefined;
  const lookNow = (): void => {
    running ??= look().finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(lookNow, LOOK_MS).unref();

  const keys: IdentityKeys = {
    ...every,
    get names() {
      return namesIn(state, every);
    },
    get spelled() {
      return state.spelled;
    },
  };
  return {
    keys,
    async requireAll(db) {
      try {
        await requireAllKeys(db, keys);
      } catch (error) {
        if (error instanceof UnknownKeyError) lookNow();
        throw error;
      }
    },
    check: { name: 'log keys', check: async () => readinessOf(state, every) },
    async stop() {
      clearInterval(timer);
      await running;
      try {
        await endOfLife(pool, instance);
      } catch (err) {
        log.warn(
          { err },
          'the end of this instance could not be noted: `log rotate-key` takes it to run for another minute',
        );
      }
    },
  };
}

/** @throws {UnknownKeyError} when versions may have a key that is not among these */
export async function requireAllKeys(db: Db, { names }: IdentityKeys): Promise<void> {
  const [other] = await otherKeysInUse(db, names);
  if (other !== undefined) throw new UnknownKeyError(other);
}

function readinessOf({ faults, isForgotten, spelled }: KeyState, keys: IdentityKeys): ReadinessResult {
  const wrong = faults.map(({ variable, wrong }) => `${variable} ${wrong}`);
  const forgotten = `the log has forgotten the key ${keys.current}, and stores nothing that is written with it`;
  const found = [...wrong, ...(isForgotten ? [forgotten] : [])];
  if (found.length > 0) return { ok: false, detail: found.join('; ') };
  return spelled.length === 0 ? { ok: true } : { ok: true, warning: SPELLED };
}
