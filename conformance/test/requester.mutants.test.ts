import { describe, expect, it } from 'vitest';
import type { RunKeys } from '../requester/keys.ts';
import { REQUESTER_MUTANTS, type RequesterMutation } from './mutants/requester.ts';
import { type Faults, plainRequester } from './requester/plain-requester.ts';
import { openRequesterRuns } from './requester/run-requester.ts';
import { testMutants } from './run-mutants.ts';

/** A wrongly signed message keeps its other headers. */
function faultsOf({ faults: own = {}, signs: make }: RequesterMutation, keys: RunKeys): Faults {
  if (make === undefined) return own;
  return {
    send: (outgoing, identity) => {
      const { headers, body } = make({ body: outgoing.body, identity, keys });
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
    waiting: ['R-PAG-08'],
    async open() {
      const runs = await openRequesterRuns();
      let faults: Faults = {};
      const requester = plainRequester(() => faults);
      return {
        run(mutation = {}, isWanted) {
          faults = faultsOf(mutation, runs.keys);
          return runs.run(requester, isWanted);
        },
        async close() {
          await requester.close();
          await runs.close();
        },
      };
    },
  });

  it('delivers early-warning data too', async () => {
    const early = await openRequesterRuns('vs');
    const requester = plainRequester(() => ({}));
    try {
      const results = await early.run(requester, (id) => /^R-(ACC|CAL)/.test(id) || id === 'R-REF-16');
      expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
    } finally {
      await requester.close();
      await early.close();
    }
  });
});
