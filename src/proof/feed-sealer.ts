import type { Db } from '../database/transaction.ts';
import { faultOfKey, parseSealingKey, sealingKeyOf } from './keys.ts';
import type { ProofWriter } from './proof-log.ts';
import { createProofWriter } from './writer.ts';

/** Seals entries of the feed, with a key that cannot sign. */
interface FeedSealer {
  readonly writer: ProofWriter;
  /** @throws {Error} when the key is not that of this database */
  requireRightKey(db: Db): Promise<void>;
}

/** For applications that write to the feed themselves. @throws {TypeError} unless the text is a sealing key */
export function createFeedSealer(text: string): FeedSealer {
  const sealingKey = parseSealingKey(text);
  return {
    writer: createProofWriter(sealingKeyOf(sealingKey, 'raadsfeed'), 'raadsfeed'),
    async requireRightKey(db) {
      const fault = await faultOfKey(db, sealingKey);
      if (fault !== undefined) throw new Error(`sealingKey ${fault.wrong}; allowed: ${fault.allowed}`);
    },
  };
}
