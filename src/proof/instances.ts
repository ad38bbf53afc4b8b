/** Asks the other instances of this service for their last published checkpoints, which they remember outside the database. */
import type { FastifyInstance } from 'fastify';
import { reasonOf } from '../lib/log.ts';
import { createGuardedFetch } from '../lib/outbound/guarded-fetch.ts';
import type { StoredLog } from './store/logs.ts';
import { MAX_NOTE_BYTES } from './tlog/note.ts';

const TIMEOUT_MS = 2_000;

/** @returns asks each for its last publication of an origin; not verified. Instances that do not answer, or published nothing, are left out */
export function askInstances(app: FastifyInstance): (log: StoredLog) => Promise<readonly string[]> {
  const { settings, stopping: signal } = app;
  // The operator chose the addresses.
  const { fetch, close } = createGuardedFetch({ allowPrivate: true, proxy: settings.server });
  app.addHook('onClose', close);

  const ask = async (instance: string, { log, number }: StoredLog): Promise<readonly string[]> => {
    const origin = number === 1 ? log : `${log}/${number}`;
    const url = `${instance.replace(/\/$/, '')}/proof/v1/${origin}/checkpoint`;
    try {
      const bytes = await fetch({ url, method: 'GET', timeoutMs: TIMEOUT_MS, maxBytes: MAX_NOTE_BYTES, signal });
      return [Buffer.from(bytes).toString('utf8')];
    } catch (error) {
      signal.throwIfAborted();
      app.log.warn({ instance, reason: reasonOf(error) }, 'an instance did not report its last publication');
      return [];
    }
  };

  return async (log) => (await Promise.all(settings.proof.instances.map((instance) => ask(instance, log)))).flat();
}
