/** What the logs of proof do in the transactions of others. @see StoreHooks */
import type { StoreHooks } from '../database/store-hooks.ts';
import { faultOfKey, parseSealingKey, sealingKeyOf } from './keys.ts';
import { createProofWriter } from './writer.ts';

export { requireRightKey } from './keys.ts';
export { createProofWriters as proofWriters } from './writer.ts';

export const createFeedSealer: StoreHooks['createFeedSealer'] = (text) => {
  const sealingKey = parseSealingKey(text);
  return {
    writer: createProofWriter(sealingKeyOf(sealingKey, 'raadsfeed'), 'raadsfeed'),
    async requireRightKey(db) {
      const fault = await faultOfKey(db, sealingKey);
      if (fault !== undefined) throw new Error(`sealingKey ${fault.wrong}; allowed: ${fault.allowed}`);
    },
  };
};
