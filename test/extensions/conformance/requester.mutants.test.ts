import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REQUESTER_MUTANTS, type RequesterMutation } from './mutants/requester.ts';
import { type Faults, type PlainRequester, plainRequester } from './requester/plain-requester.ts';
import { openRequesterRuns, type RequesterRuns } from './requester/run-requester.ts';
import { testMutants } from './run-mutants.ts';

let runs: RequesterRuns;
let requester: PlainRequester;
let faults: Faults = {};
beforeAll(async () => {
  runs = await openRequesterRuns();
  requester = plainRequester(() => faults);
});
afterAll(async () => {
  await requester?.close();
  await runs?.close();
});

/** A message that is signed wrongly keeps its other headers. */
function faultsOf({ faults: own = {}, signs: make }: RequesterMutation): Faults {
  if (make === undefined) return own;
  return {
    send: (outgoing, identity) => {
      const { headers, body } = make({ body: outgoing.body, identity, keys: runs.keys });
      const others = outgoing.headers.filter(([name]) => name !== 'digest' && name !== 'nlgov-adr-payload-sig');
      return {
        ...outgoing,
        body,
        headers: [...others, ...headers.map(([name, value]): [string, string] => [name, value])],
      };
    },
  };
}

describe('the suite for a requester of data', () => {
  testMutants({
    suite: 'gegevens-requester',
    mutants: REQUESTER_MUTANTS,
    notOffered: [],
    run: (mutant) => {
      faults = faultsOf(mutant?.mutation ?? {});
      return runs.run(requester);
    },
  });

  it('delivers early-warning data as well', async () => {
    faults = {};
    const early = await openRequesterRuns('vs');
    try {
      const results = await early.run(requester, (id) => /^R-(ACC|CAL)/.test(id) || id === 'R-REF-16');
      expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    } finally {
      await early.close();
    }
  });
});
