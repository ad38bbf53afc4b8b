/** Asks the other instances of this service for the last checkpoint that each published: they remember it apart from the database. */
import { type Logger, reasonOf } from '../../lib/log.ts';
import { createGuardedFetch } from '../../lib/outbound/guarded-fetch.ts';
import { MAX_NOTE_BYTES } from '../../lib/tlog/note.ts';
import type { Config } from '../../settings/read-config.ts';
import type { StoredLog } from './store/logs.ts';

const TIMEOUT_MS = 2_000;

export interface Instances {
  /** What each of them published last of an origin; not verified. One that does not answer, or has published nothing, is left out. */
  latest(log: StoredLog): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface InstancesOptions {
  readonly config: Pick<Config, 'proof' | 'server'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly stopping: AbortSignal;
}

/** Undefined when no other instance is known. */
export function createInstances({ config, log: logger, stopping: signal }: InstancesOptions): Instances | undefined {
  const { instances } = config.proof;
  if (instances.length === 0) return undefined;
  // The operator chose the addresses.
  const { fetch, close } = createGuardedFetch({ allowPrivate: true, proxy: config.server });

  const ask = async (instance: string, { log, number }: StoredLog): Promise<readonly string[]> => {
    const origin = number === 1 ? log : `${log}/${number}`;
    const url = `${instance.replace(/\/$/, '')}/proof/v1/${origin}/checkpoint`;
    try {
      const bytes = await fetch({ url, method: 'GET', timeoutMs: TIMEOUT_MS, maxBytes: MAX_NOTE_BYTES, signal });
      return [Buffer.from(bytes).toString('utf8')];
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ instance, reason: reasonOf(error) }, 'an instance did not say what it published last');
      return [];
    }
  };

  return {
    latest: async (log) => (await Promise.all(instances.map((instance) => ask(instance, log)))).flat(),
    close,
  };
}
