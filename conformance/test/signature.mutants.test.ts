import { readFile } from 'node:fs/promises';
import { describe } from 'vitest';
import { createGuardedFetch } from '../../src/lib/outbound/guarded-fetch.ts';
import { signedHeaders } from '../gegevens/signed-request.ts';
import { signedMessage } from '../signature/message.ts';
import { SIGNATURES } from '../signature/suite.ts';
import { readTrust } from '../signature/trust.ts';
import { SIGNATURE_MUTANTS } from './mutants/signature.ts';
import type { Message } from './mutants/signature-faults.ts';
import { openRequesterRuns } from './requester/run-requester.ts';
import { runCases } from './run-cases.ts';
import { testMutants } from './run-mutants.ts';

describe('the suite for signed messages', () => {
  testMutants({
    suite: 'signature',
    mutants: SIGNATURE_MUTANTS,
    // A message need not have a second digest.
    notOffered: ['S-DIG-04'],
    async open() {
      const { keys, close } = await openRequesterRuns();
      const network = createGuardedFetch({ allowPrivate: true });
      const anchors = await readFile(keys.root, 'utf8');
      const body = Buffer.from('{"gegevens":{}}');
      const identity = keys.suppliers.supplier;
      const judge = ({ headers, body: sent }: Message, isWanted: (id: string) => boolean) =>
        runCases({
          suite: SIGNATURES,
          tested: 'bericht',
          isWanted,
          open: (client, signal) => ({
            client,
            values: {},
            fault: () => undefined,
            messages: [signedMessage('bericht', headers, sent)],
            trust: readTrust({ anchors, at: new Date(), fetch: network.fetch, signal }),
          }),
        });
      return {
        run: (mutation, isWanted) =>
          judge(
            mutation?.({ body, identity, keys }) ?? { headers: Object.entries(signedHeaders(body, identity)), body },
            isWanted,
          ),
        async close() {
          await network.close();
          await close();
        },
      };
    },
  });
});
