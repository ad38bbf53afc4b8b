import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Files that take longest, however short they are: one that starts last keeps a single processor at work. */
export const LONGEST = [
  ...['extensions/pages/pages-look', 'operations/package', 'operations/failover', 'verwerkingenlog/large'],
  ...['gegevens/hostile-files', 'operations/least-privilege', 'demo/demo', 'raadsfeed/large-pages'],
  ...['raadsfeed/stream-memory', 'operations/drills', 'extensions/ldv/forward-kill', 'extensions/aggregator/kill'],
  ...['extensions/ldv/large-batch', 'raadsfeed/publish-memory', 'extensions/delivery-tools/convert-large'],
  ...['extensions/delivery-tools/tables/memory', 'extensions/delivery-tools/check/memory', 'extensions/proof/kill'],
].map((name) => `/test/${name}.slow.test.ts`);

/** Vitest's own order, which on a clean machine is by the size of files, with the longest slow tests before all others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((name) => moduleId.endsWith(name));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
