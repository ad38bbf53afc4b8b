import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExampleSupplier, NOT_OFFERED, startExampleSupplier } from './example-supplier.ts';
import { GEGEVENS_MUTANTS } from './mutants/gegevens.ts';
import { type BreakingProxy, type Mutation, startProxy } from './proxy.ts';
import { testMutants } from './run-mutants.ts';

let supplier: ExampleSupplier;
let proxy: BreakingProxy;
beforeAll(async () => {
  supplier = await startExampleSupplier();
  proxy = await startProxy(`${supplier.server.url}/shv/v1`);
});
afterAll(async () => {
  await proxy?.stop();
  await supplier?.close();
});

/** The bytes of an answer are signed: it is never parsed and written anew. */
function keepingBytes({ answer, ...mutation }: Mutation): Mutation {
  return {
    ...mutation,
    answer: async (received, request) => {
      received.json = undefined;
      await answer?.(received, request);
    },
  };
}

describe('the suite for a supplier of data', () => {
  testMutants({
    suite: 'gegevens',
    mutants: GEGEVENS_MUTANTS,
    notOffered: NOT_OFFERED,
    run: (mutant) => {
      proxy.mutate(keepingBytes(mutant?.mutation(supplier) ?? {}));
      return supplier.run(`${proxy.url}/gegevens`);
    },
  });

  it('finds no fault in what we deliver of the other variant', async () => {
    const results = await supplier.run(supplier.url('vs'), {
      ...{ variant: 'vs', isWanted: (id) => /^A-(ANS|JWS)/.test(id) },
    });
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(['A-ANS-14 skipped']);
  });
});
