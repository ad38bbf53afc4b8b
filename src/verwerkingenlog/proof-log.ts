import type { ProvenLog } from '../proof/proof-log.ts';
import { openIdentityKeys } from './store/keys.ts';
import { lastProven, storedVersions } from './store/proof.ts';

export const verwerkingenProofLog: ProvenLog = {
  name: 'verwerkingen',
  records: async ({ config, pool, db }) => storedVersions(db, await openIdentityKeys(pool, config, 'read')),
  lastProven,
};
