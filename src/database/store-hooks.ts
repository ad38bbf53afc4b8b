/** What extensions do in the transaction that stores something. `store-hooks.ts` of an extension exports some of these functions. */

import type { ForwardPolicy } from '../plugins/processing-log.ts';
import type { ProofWriter, ProofWriters } from '../proof/proof-log.ts';
import { importFromExtensions, type UnknownModule } from '../settings/extensions.ts';
import type { Config } from '../settings/read-config.ts';
import type { Db } from './transaction.ts';

export interface StoreHooks {
  /** Writers of the logs of proof that the configuration switches on. */
  proofWriters(config: Config): ProofWriters;
  /** @throws {ConfigError} for a key that is not the one of this database */
  requireRightKey(db: Db, config: Config): Promise<void>;
  /** For applications that write to the feed themselves. @throws {TypeError} unless the text is a sealing key */
  createFeedSealer(sealingKey: string): FeedSealer;
  /** What of the processing log is forwarded. */
  forwardPolicy(config: Config): ForwardPolicy;
  /**
   * The key of a log line of LDV, from what the first version of its action keeps.
   * @param hash a keyed hash
   * @throws {Error} when that cannot be read
   */
  keyOfLine(line: string, hash: (text: string) => string): LineKey;
}

/** Keyed hashes of a line that is stored once: of whose line it is, and of what it says. */
export interface LineKey {
  readonly key: string;
  readonly content: string;
}

/** Seals entries of the feed, with a key that cannot sign. */
interface FeedSealer {
  readonly writer: ProofWriter;
  /** @throws {Error} when it is not the key of this database */
  requireRightKey(db: Db): Promise<void>;
}

/** The hooks of the processing log and the feed, for a configuration. */
export interface OpenStoreHooks {
  /** The proof logs that are switched on. */
  readonly proof: ProofWriters;
  /** What of the processing log is forwarded. */
  readonly forward: ForwardPolicy;
  /** @throws {ConfigError} for a key that is not the one of this database */
  requireRightKey(db: Db): Promise<void>;
}

export async function openStoreHooks(config: Config): Promise<OpenStoreHooks> {
  const hooks = await loadStoreHooks();
  return {
    proof: hooks.proofWriters?.(config) ?? (() => undefined),
    forward: hooks.forwardPolicy?.(config),
    requireRightKey: async (db) => hooks.requireRightKey?.(db, config),
  };
}

/** The hooks of all extensions together. */
export async function loadStoreHooks(): Promise<Partial<StoreHooks>> {
  const modules = await importFromExtensions('store-hooks');
  return Object.assign({}, ...modules.map(({ module }) => module).filter(areStoreHooks));
}

function areStoreHooks(module: UnknownModule): module is UnknownModule & Partial<StoreHooks> {
  return Object.values(module).every((hook) => typeof hook === 'function');
}
