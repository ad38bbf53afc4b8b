/** Asks the other instances of this service for the last checkpoint that each published: they remember it apart from the database. */
import { type Logger, reasonOf } from '../../lib/log.ts';
import { MAX_NOTE_BYTES } from '../../lib/tlog/note.ts';
import type { Config } from '../../settings/read-config.ts';
import { createProofHttp } from './http.ts';
import type { StoredLog } from './store/logs.ts';

const TIMEOUT_MS = 2_000;

export interface Instances {
  /** What each of them published last of an origin; not verified. One that does not answer is left out. */
  latest(log: StoredLog): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface InstancesOptions {
  readonly config: Pick<Config, 'proof' | 'server'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly stopping: AbortSignal;
}

/** Undefined when no other instance is known. */
export function createInstances({ config, log: logger, stopping }: InstancesOptions): Instances | undefined {
  const { instances } = config.proof;
  if (instances.length === 0) return undefined;
  const http = createProofHttp(TIMEOUT_MS, MAX_NOTE_BYTES, config.server);
  /** Those that did not answer the last time: each is logged once. */
  const silent = new Set<string>();

  const ask = async (instance: string, { log, number }: StoredLog): Promise<readonly string[]> => {
    const origin = number === 1 ? log : `${log}/${number}`;
    try {
      const address = `${instance.replace(/\/$/, '')}/proof/v1/${origin}/checkpoint`;
      const { status, text } = await http.call(address, stopping);
      // Without a state of its own it has published nothing.
      if (status !== 200 && status !== 404) throw new Error(`status ${status}`);
      silent.delete(instance);
      return status === 200 ? [text] : [];
    } catch (error) {
      stopping.throwIfAborted();
      if (!silent.has(instance))
        logger.warn({ instance, reason: reasonOf(error) }, 'an instance did not say what it published last');
      silent.add(instance);
      return [];
    }
  };

  return {
    latest: async (log) => (await Promise.all(instances.map((instance) => ask(instance, log)))).flat(),
    close: http.close,
  };
}
