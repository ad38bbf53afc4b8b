import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModel } from '../../../src/lib/exchange-model/model.ts';
import { createGuardedFetch } from '../../../src/lib/outbound/guarded-fetch.ts';
import type { DrivenProgram } from '../../protocol.ts';
import { makeKeys, type RunKeys } from '../../requester/keys.ts';
import { requesterSubject } from '../../requester/subject.ts';
import { REQUESTER } from '../../requester/suite.ts';
import { startSuppliers } from '../../requester/suppliers.ts';
import type { CaseResult } from '../../run-suite.ts';
import { readTrust } from '../../signature/trust.ts';
import { runCases } from '../run-cases.ts';

export interface RequesterRuns {
  /** Runs the cases against a program in this process. */
  run(program: Pick<DrivenProgram, 'ask'>, isWanted?: (id: string) => boolean): Promise<readonly CaseResult[]>;
  readonly keys: RunKeys;
  close(): Promise<void>;
}

/** Keys for many runs. */
export async function openRequesterRuns(variant: 'shv' | 'vs' = 'shv'): Promise<RequesterRuns> {
  const dir = await mkdtemp(join(tmpdir(), 'afnemer-'));
  const keys = await makeKeys(dir);
  const network = createGuardedFetch({ allowPrivate: true, proxy: { outboundProxy: undefined, outboundNoProxy: [] } });
  const { signal } = new AbortController();
  const model = loadModel(variant);
  const anchors = await readFile(keys.root, 'utf8');
  return {
    keys,
    async run({ ask }, isWanted) {
      const suppliers = await startSuppliers({ keys, model, port: 0, token: 'proefsleutel' });
      const trust = readTrust({ anchors, at: new Date(), fetch: network.fetch, signal });
      const program = { ask, close: async () => undefined };
      const needs = { model, keys, suppliers, trust, token: 'proefsleutel', program };
      try {
        return await runCases({
          suite: REQUESTER,
          tested: 'requester',
          isWanted,
          open: (client) => requesterSubject({ ...needs, client }),
        });
      } finally {
        await suppliers.close();
      }
    },
    async close() {
      await Promise.all([keys.close(), network.close()]);
      await rm(dir, { recursive: true, force: true });
    },
  };
}
