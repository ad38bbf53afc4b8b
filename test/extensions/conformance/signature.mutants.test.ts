import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe } from 'vitest';
import { createClient } from '../../../src/extensions/conformance/client.ts';
import { signedHeaders } from '../../../src/extensions/conformance/gegevens/signed-request.ts';
import { type CaseResult, runSuite } from '../../../src/extensions/conformance/run-suite.ts';
import { signedMessage } from '../../../src/extensions/conformance/signature/message.ts';
import { SIGNATURES } from '../../../src/extensions/conformance/signature/suite.ts';
import { readTrust } from '../../../src/extensions/conformance/signature/trust.ts';
import { createGuardedFetch } from '../../../src/lib/outbound/guarded-fetch.ts';
import { SIGNATURE_MUTANTS } from './mutants/signature.ts';
import type { Message } from './mutants/signature-faults.ts';
import { openRequesterRuns, type RequesterRuns } from './requester/run-requester.ts';
import { testMutants } from './run-mutants.ts';

let runs: RequesterRuns;
const network = createGuardedFetch({ allowPrivate: true, proxy: { outboundProxy: undefined, outboundNoProxy: [] } });
const { signal } = new AbortController();
beforeAll(async () => {
  runs = await openRequesterRuns();
});
afterAll(async () => {
  await network.close();
  await runs?.close();
});

async function judge({ headers, body }: Message): Promise<readonly CaseResult[]> {
  const client = createClient({ subject: 'bericht', rate: 100, signal });
  const anchors = await readFile(runs.keys.root, 'utf8');
  const trust = readTrust({ anchors, at: new Date(), fetch: network.fetch, signal });
  const subject = {
    client,
    values: {},
    fault: () => undefined,
    messages: [signedMessage('bericht', headers, body)],
    trust,
  };
  return runSuite({ chapters: SIGNATURES.chapters, subject, isWanted: () => true, signal });
}

describe('the suite for signed messages', () => {
  testMutants({
    suite: 'signature',
    mutants: SIGNATURE_MUTANTS,
    // A message need not have a second digest.
    notOffered: ['S-DIG-04'],
    run: (mutant) => {
      const body = Buffer.from('{"gegevens":{}}');
      const identity = runs.keys.suppliers.supplier;
      const good = { headers: Object.entries(signedHeaders(body, identity)), body };
      return judge(mutant?.mutation({ body, identity, keys: runs.keys }) ?? good);
    },
  });
});
