import type { ProvenLog } from '../proof/proof-log.ts';
import { recordProofRoute } from './routes/record-proof.ts';
import { numberedRecords, storedRecords } from './store/proof-records.ts';

export const raadsfeedProofLog: ProvenLog = {
  name: 'raadsfeed',
  records: async ({ db, writer }) => storedRecords(db, writer),
  numbered: numberedRecords,
  routes: recordProofRoute,
};
