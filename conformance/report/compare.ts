/** Reports beside each other: what became better and worse, and how several implementations differ. */
import type { ConformanceReport } from './report.ts';

export interface Difference {
  readonly id: string;
  readonly title: string;
  /** One for each report; undefined where it did not run. */
  readonly outcomes: readonly (string | undefined)[];
}

/** Cases that ended otherwise in one report than in another. */
export function compareReports(reports: readonly ConformanceReport[]): readonly Difference[] {
  const titles = new Map(reports.flatMap(({ cases }) => cases.map(({ id, title }) => [id, title] as const)));
  const byId = reports.map(({ cases }) => new Map(cases.map((one) => [one.id, one.outcome] as const)));
  return [...titles]
    .map(([id, title]) => ({ id, title, outcomes: byId.map((outcomes) => outcomes.get(id)) }))
    .filter(({ outcomes }) => new Set(outcomes).size > 1);
}
