/** What `npm run conformance:mutants` does with the mutants of a suite. */
import process from 'node:process';
import { afterAll, expect, it } from 'vitest';
import type { CaseResult } from '../../../src/extensions/conformance/run-suite.ts';
import type { Mutant } from './mutants/mutant.ts';

/** Other cases that a mutant may fail. */
const MOST_OTHERS = 5;

interface MutantTests<Mutation> {
  readonly suite: string;
  readonly mutants: readonly Mutant<Mutation>[];
  /** Runs the suite; without a mutant against what is right. */
  readonly run: (mutant: Mutant<Mutation> | undefined) => Promise<readonly CaseResult[]>;
  /** Cases that the right one does not pass, for it does not offer what they are about. */
  readonly notOffered: readonly string[];
}

/** One test for each mutant: its case fails, and few others do. Prints which cases failed. */
export function testMutants<Mutation>({ suite, mutants, run, notOffered }: MutantTests<Mutation>): void {
  const table: string[] = [];
  afterAll(() => {
    process.stdout.write(`${table.length} mutants of ${suite}, and the cases that fail on each\n${table.join('\n')}\n`);
  });

  it('finds no fault where nothing is broken', async () => {
    const results = await run(undefined);
    expect(results.filter(({ outcome, id }) => outcome !== 'passed' && !notOffered.includes(id))).toEqual([]);
  });

  it.each(mutants)('$kills fails: $what', async (mutant) => {
    const { kills, what } = mutant;
    const results = await run(mutant);
    const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
    const others = failed.filter((id) => id !== kills);
    table.push(`${kills.padEnd(11)} ${what}${others.length === 0 ? '' : ` (also ${others.join(', ')})`}`);
    expect(failed).toContain(kills);
    if (mutant.breaksTransport !== true) expect(others.length, others.join(', ')).toBeLessThanOrEqual(MOST_OTHERS);
  });
}
