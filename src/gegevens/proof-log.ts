import type { ProvenLog } from '../proof/proof-log.ts';
import { lastProven, storedDeliveries } from './store/journal.ts';

/** The proof log of what was delivered. */
export const leveringenProofLog: ProvenLog = {
  name: 'leveringen',
  records: async ({ db, writer }) => storedDeliveries(db, writer),
  lastProven,
};
