import { describe, expect, it } from 'vitest';
import { type ExampleSupplier, NOT_OFFERED, startExampleSupplier } from './example-supplier.ts';
import { GEGEVENS_MUTANTS } from './mutants/gegevens.ts';
import { behindProxy, type Mutation } from './proxy.ts';
import { testMutants } from './run-mutants.ts';

/** The bytes of an answer are signed, so it must never be parsed and rewritten. */
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
  let supplier: ExampleSupplier;

  testMutants({
    suite: 'gegevens',
    mutants: GEGEVENS_MUTANTS,
    notOffered: NOT_OFFERED,
    async open() {
      supplier = await startExampleSupplier();
      const { run, close } = await behindProxy({
        target: `${supplier.server.url}/shv/v1`,
        run: (url, isWanted) => supplier.run(`${url}/gegevens`, { isWanted }),
        close: supplier.close,
      });
      return { run: (mutation, isWanted) => run(keepingBytes(mutation?.(supplier) ?? {}), isWanted), close };
    },
  });

  it('finds no fault in our deliveries of the other variant', async () => {
    const results = await supplier.run(supplier.url('vs'), {
      variant: 'vs',
      isWanted: (id) => /^A-(ANS|JWS)/.test(id),
    });
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(['A-ANS-14 skipped']);
  });
});
