import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** The slowest files, slowest first: one that starts last would keep a single CPU busy at the end. */
const SLOW = [
  ...['operations/hostile-json', 'demo/demo', 'plugins/odd-addresses', 'html/front/api-page', 'verwerkingenlog/large'],
  'gegevens/hostile-files',
  ...['operations/package', 'verwerkingenlog/ldv/large-batch', 'plugins/operator-page', 'raadsfeed/pages/people'],
  ...['operations/drills', 'raadsfeed/pages/pages-look', 'raadsfeed/pages/lists-large', 'operations/failover'],
  ...['embedded-postgres/start', 'lib/jades/revocation-answers', 'raadsfeed/diwoo/diwoo-size', 'gegevens/crowded'],
  ...['verwerkingenlog/inzage/browser', 'raadsfeed/aggregator/kill', 'verwerkingenlog/ldv/forward-kill'],
  ...['operations/least-privilege', 'deploy/organisations', 'operations/pool-shares'],
];
/** Mostly waiting. */
const FAST = ['verwerkingenlog/ldv/forward', 'verwerkingenlog/locks'];
export const LONGEST = [
  '/conformance/test/run-ends.slow.test.ts',
  ...SLOW.map((name) => `/test/${name}.slow.test.ts`),
  ...FAST.map((name) => `/test/${name}.test.ts`),
];

/** The slowest files before all others, and these in vitest's own order, which on a clean machine is by file size. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
