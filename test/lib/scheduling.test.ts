import { expect, it } from 'vitest';
import { createBatchPerTick } from '../../src/lib/scheduling.ts';

it('does the work of a turn in its order at the end of that turn, and later work in a later one', async () => {
  const batchPerTick = createBatchPerTick();
  const done: string[] = [];
  batchPerTick(() => done.push('a'));
  batchPerTick(() => {
    done.push('b');
    batchPerTick(() => done.push('c'));
  });
  await Promise.resolve();
  expect(done).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['a', 'b']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['a', 'b', 'c']);
});
