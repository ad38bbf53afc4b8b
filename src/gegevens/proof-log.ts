import type { ProvenLog } from '../proof/proof-log.ts';
import { lastProven, storedDeliveries } from './store/journal.ts';

export const leveringenProofLog: ProvenLog = {
  name: 'leveringen',
  records: async ({ db, writer }) => storedDeliveries(db, writer),
  lastProven,
};
