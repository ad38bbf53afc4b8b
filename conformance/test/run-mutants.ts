/** How `npm run conformance:mutants` runs the mutants of a suite. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CaseResult } from '../run-suite.ts';
import type { Mutant } from './mutants/mutant.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The outcome, on the mutant's test. */
    mutant?: { readonly suite: string; readonly kills: string; readonly what: string; readonly failed: string[] };
  }
}

/** Other cases that a mutant may fail. */
const MOST_OTHERS = 5;

/** The subject of a suite, and how to break it. */
export interface MutantRuns<Mutation> {
  /** Runs the selected cases; without a mutation, against the correct subject. */
  run(mutation: Mutation | undefined, isWanted: (id: string) => boolean): Promise<readonly CaseResult[]>;
  close(): Promise<void>;
}

interface MutantTests<Mutation> {
  readonly suite: string;
  readonly mutants: readonly Mutant<Mutation>[];
  readonly open: () => MutantRuns<Mutation> | Promise<MutantRuns<Mutation>>;
  /** Cases that the correct subject does not pass, because it does not offer their features. */
  readonly notOffered: readonly string[];
  /** Cases that wait for absent events: they run for their own mutants, and without mutation. */
  readonly waiting?: readonly string[];
  /** How many mutants run in parallel, each on its own subject; for suites that mostly wait. */
  readonly lanes?: number;
}

/** One test for each mutant: its case fails, and few others do. */
export function testMutants<Mutation>(tests: MutantTests<Mutation>): void {
  const { suite, mutants, open, notOffered, waiting = [], lanes: count = 1 } = tests;
  const lanes: MutantRuns<Mutation>[] = [];
  /** Resolves when the work in a lane has ended. */
  const ended: Promise<unknown>[] = [];
  beforeAll(async () => {
    for (let i = 0; i < count; i += 1) lanes.push(await open());
  });
  afterAll(async () => {
    for (const lane of lanes) await lane.close();
  });
  const run = async (
    index: number,
    mutation: Mutation | undefined,
    isWanted: (id: string) => boolean,
  ): Promise<readonly CaseResult[]> => {
    const lane = lanes[index % count];
    if (lane === undefined) throw new TypeError('there is no lane');
    const results = Promise.resolve(ended[index % count]).then(() => lane.run(mutation, isWanted));
    ended[index % count] = results.catch(() => undefined);
    return results;
  };

  it('finds no fault without a mutation', async () => {
    const results = await run(0, undefined, () => true);
    expect(results.filter(({ outcome, id }) => outcome !== 'passed' && !notOffered.includes(id))).toEqual([]);
  });

  const test = count === 1 ? it : it.concurrent;
  for (const [index, { kills, what, mutation, breaksTransport }] of mutants.entries())
    test(`${kills} fails: ${what}`, async ({ task }) => {
      const results = await run(index, mutation, (id) => id === kills || !waiting.includes(id));
      const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
      task.meta.mutant = { suite, kills, what, failed };
      expect(failed).toContain(kills);
      const others = failed.filter((id) => id !== kills);
      if (breaksTransport !== true) expect(others.length, others.join(', ')).toBeLessThanOrEqual(MOST_OTHERS);
    });
}
