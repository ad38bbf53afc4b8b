/** Cases about what a requester does with an answer. */
import type { Clause, ConformanceCase, Finding, Level } from '../case.ts';
import type { ScenarioName } from './scenarios.ts';
import type { Played, RequesterSubject } from './subject.ts';

export type Title = readonly [nl: string, en: string];
export type Case = ConformanceCase<RequesterSubject>;

/** The case without which no refusal means anything. */
export const TAKES_GOOD = 'R-ACC-01';

interface Needs {
  readonly level?: Level;
  readonly dependsOn?: readonly string[];
}

export const named = (id: string, [nl, en]: Title, source: Clause, { level = 'must', dependsOn }: Needs) => ({
  ...{ id, title: { nl, en }, level, source, dependsOn: dependsOn ?? (id === TAKES_GOOD ? [] : [TAKES_GOOD]) },
});

/** @param records that it must count; absent: all that the supplier has */
export const takes = (id: string, title: Title, source: Clause, scenario: ScenarioName, needs: Needs = {}): Case => ({
  ...named(id, title, source, needs),
  check: async ({ play, suppliers }) => {
    const { accepted, refused, records } = await play(scenario);
    if (!accepted) return { failed: `it refused a good answer${refused === undefined ? '' : `: ${refused}`}` };
    return counted(records, suppliers.recordsOf(scenario));
  },
});

function counted(records: number | undefined, expected: number): Finding {
  if (records === undefined || records === expected) return undefined;
  return { failed: `it counts ${records} records, and was given ${expected}` };
}

export const refuses = (id: string, title: Title, source: Clause, scenario: ScenarioName, needs: Needs = {}): Case => ({
  ...named(id, title, source, needs),
  check: async ({ play }) => ((await play(scenario)).accepted ? { failed: 'it took the answer' } : undefined),
});

export const seen = (id: string, title: Title, source: Clause, scenario: ScenarioName): Case => ({
  ...named(id, title, source, { level: 'open' }),
  check: async ({ play }) => ({ seen: said(await play(scenario)) }),
});

function said({ accepted, refused }: Played): string {
  return accepted
    ? 'it takes such an answer'
    : `it refuses such an answer${refused === undefined ? '' : `: ${refused}`}`;
}
