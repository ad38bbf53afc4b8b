import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Line } from '../../src/kernel/linked-list.ts';

function itemsOf<T>(line: Line<T>): T[] {
  const items: T[] = [];
  for (let { first } = line; first !== undefined; { first } = line) {
    items.push(first.item);
    first.leave();
  }
  return items;
}

describe('a line', () => {
  it.each([
    ['nobody', [], [1, 2, 3, 4]],
    ['the first', [1], [2, 3, 4]],
    ['the last', [4], [1, 2, 3]],
    ['one in the middle', [2], [1, 3, 4]],
    ['neighbours', [2, 3], [1, 4]],
    ['neighbours, backwards', [3, 2], [1, 4]],
    ['one, twice', [3, 3], [1, 2, 4]],
    ['all', [2, 4, 1, 3], []],
  ])('keeps its order when %s leaves', (_who, leaving, left) => {
    const line = new Line<number>();
    const places = [1, 2, 3, 4].map((item) => line.join(item));
    for (const item of leaving) places[item - 1]?.leave();
    line.join(5);
    expect(itemsOf(line)).toEqual([...left, 5]);
    expect(line.first).toBeUndefined();
  });

  it('lets go of what has left, without a look through all memory', () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    if (typeof collect !== 'function') throw new TypeError('this engine does not collect when asked');
    const oldBytes = (): number =>
      getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;

    const line = new Line<readonly number[]>();
    const waiting: { leave(): void }[] = [];
    const pass = (count: number): void => {
      for (let i = 0; i < count; i += 1) {
        waiting.push(line.join(Array.from({ length: 100 }, (_, n) => n + i + 0.5)));
        if (waiting.length > 64) waiting.shift()?.leave();
        if (i % 500 === 0) collect({ type: 'minor' });
      }
    };
    pass(5000);
    // Puts all that is there with what is old, the line itself too.
    collect();
    const before = oldBytes();
    pass(30_000);
    // What passed is some 25 MB.
    expect(oldBytes() - before).toBeLessThan(2_000_000);
  });
});
