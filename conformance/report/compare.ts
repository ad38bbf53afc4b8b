/** Compares reports: what improved or got worse, and how several implementations differ. */
import type { ConformanceReport } from './report.ts';

export interface Difference {
  readonly id: string;
  readonly title: string;
  /** One outcome per report; undefined where the case did not run. */
  readonly outcomes: readonly (string | undefined)[];
}

export function compareReports(reports: readonly ConformanceReport[]): readonly Difference[] {
  const titles = new Map(reports.flatMap(({ cases }) => cases.map(({ id, title }) => [id, title] as const)));
  const byId = reports.map(({ cases }) => new Map(cases.map((one) => [one.id, one.outcome] as const)));
  return [...titles]
    .map(([id, title]) => ({ id, title, outcomes: byId.map((outcomes) => outcomes.get(id)) }))
    .filter(({ outcomes }) => new Set(outcomes).size > 1);
}
