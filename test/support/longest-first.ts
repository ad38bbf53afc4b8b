import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Files that take longest, the longest first: one that starts last keeps a single processor at work. */
const SLOW = [
  ...['demo/demo', 'extensions/front/api-page', 'verwerkingenlog/large', 'gegevens/hostile-files'],
  ...['operations/package', 'extensions/ldv/large-batch', 'plugins/operator-page', 'extensions/pages/people'],
  ...['operations/drills', 'extensions/pages/pages-look', 'extensions/pages/lists-large', 'operations/failover'],
  ...['embedded-postgres/start', 'lib/jades/revocation-answers', 'extensions/diwoo/diwoo-size', 'gegevens/crowded'],
  ...['extensions/inzage/browser', 'extensions/aggregator/kill', 'extensions/ldv/forward-kill'],
  ...['operations/least-privilege', 'deploy/organisations', 'operations/pool-shares'],
];
/** Mostly waiting. */
const FAST = ['extensions/ldv/forward', 'verwerkingenlog/locks'];
export const LONGEST = [
  ...SLOW.map((name) => `/test/${name}.slow.test.ts`),
  ...FAST.map((name) => `/test/${name}.test.ts`),
];

/** The longest files before all others, and these in vitest's own order, which on a clean machine is by the size of files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
