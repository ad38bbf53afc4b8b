/** Asks the other instances of this service for the last checkpoint that each published: they remember it apart from the database. */

import type { Logger } from '../../lib/log.ts';
import { createGuardedConnections, headerValue, readBody } from '../../lib/outbound/guarded-fetch.ts';
import { MAX_NOTE_BYTES } from '../../lib/tlog/note.ts';
import type { Config } from '../../settings/read-config.ts';
import type { StoredLog } from './store/logs.ts';

/** Milliseconds that an instance has for its answer. */
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
  const { outboundProxy, outboundNoProxy } = config.server;
  const connections = createGuardedConnections({
    // An operator chose the addresses.
    rules: { allowPrivate: true },
    proxy: { outboundProxy, outboundNoProxy },
    maxRedirects: 0,
    connectTimeoutMs: TIMEOUT_MS,
    agent: { connections: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, keepAliveTimeout: 4_000 },
  });
  /** Those that did not answer the last time: each is logged once. */
  const silent = new Set<string>();

  const ask = async (instance: string, { log, number }: StoredLog): Promise<readonly string[]> => {
    const origin = number === 1 ? log : `${log}/${number}`;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]);
    const headers = { 'user-agent': 'koppelvlak' };
    try {
      const { answer } = await connections.request(
        `${instance.replace(/\/$/, '')}/proof/v1/${origin}/checkpoint`,
        { method: 'GET', headers, body: null, signal },
        'none',
      );
      const bytes = await readBody(answer.body, headerValue(answer.headers['content-encoding']), MAX_NOTE_BYTES);
      // Without a state of its own it has published nothing.
      if (answer.statusCode !== 200 && answer.statusCode !== 404) throw new Error(`status ${answer.statusCode}`);
      silent.delete(instance);
      return answer.statusCode === 200 ? [bytes.toString('utf8')] : [];
    } catch (error) {
      stopping.throwIfAborted();
      const reason = error instanceof Error ? error.message : 'unknown reason';
      if (!silent.has(instance)) logger.warn({ instance, reason }, 'an instance did not say what it published last');
      silent.add(instance);
      return [];
    }
  };

  return {
    latest: async (log) => (await Promise.all(instances.map((instance) => ask(instance, log)))).flat(),
    close: connections.close,
  };
}
