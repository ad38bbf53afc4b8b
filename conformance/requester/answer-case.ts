import { type Asking, askingChapters } from '../case.ts';
import type { ScenarioName } from './scenarios.ts';
import type { RequesterSubject } from './subject.ts';

export type Judging = Asking<RequesterSubject>;

/** The prerequisite of all refusals. */
export const TAKES_GOOD = 'R-ACC-01';
export const requesterChapter = askingChapters<RequesterSubject>(TAKES_GOOD);

/** If it counts records, it must count all of the supplier's. */
export const takes = (scenario: ScenarioName): Judging => ({
  check: async ({ play, suppliers }) => {
    const { accepted, refused, records } = await play(scenario);
    if (!accepted) return `it refused a good answer${refused === undefined ? '' : `: ${refused}`}`;
    const expected = suppliers.recordsOf(scenario);
    if (records === undefined || records === expected) return undefined;
    return `it counts ${records} records, and was given ${expected}`;
  },
});

export const refuses = (scenario: ScenarioName): Judging => ({
  check: async ({ play }) => ((await play(scenario)).accepted ? 'it accepted the answer' : undefined),
});

export const seen = (scenario: ScenarioName): Judging => ({
  check: async ({ play }) => {
    const { accepted, refused } = await play(scenario);
    if (accepted) return { seen: 'it accepts such an answer' };
    return { seen: `it refuses such an answer${refused === undefined ? '' : `: ${refused}`}` };
  },
});
