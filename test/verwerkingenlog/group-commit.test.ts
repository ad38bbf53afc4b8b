import { describe, expect, it } from 'vitest';
import { createGroupCommit } from '../../src/verwerkingenlog/append.ts';

/** A commit that the test ends. */
function stage(
  options: {
    size?: number;
    inFlight?: number;
    maxWaiting?: number;
    maxWaitMs?: number;
    maxWeight?: number;
    bad?: string;
    fails?: string;
  } = {},
) {
  const groups: string[][] = [];
  const ends: (() => void)[] = [];
  const commits = createGroupCommit<string, string>({
    commit: async (group) => {
      groups.push([...group]);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (options.bad !== undefined && group.includes(options.bad)) throw new Error('bad item');
      if (options.fails !== undefined && group.includes(options.fails)) throw new Error('the database is busy');
      return group.map((item) => `${item} kept`);
    },
    size: options.size ?? 3,
    inFlight: options.inFlight ?? 1,
    maxWaiting: options.maxWaiting ?? 100,
    maxWaitMs: options.maxWaitMs ?? 60_000,
    key: (item) => /^key:(.*)$/.exec(item)?.[1],
    weight: (item) => Number(/^weighs (\d+)/.exec(item)?.[1] ?? 0),
    maxWeight: options.maxWeight ?? Number.POSITIVE_INFINITY,
    isFaultOfItem: (error) => error instanceof Error && error.message === 'bad item',
    full: () => new Error('full'),
  });
  const endAll = async (): Promise<void> => {
    for (let i = 0; i < 50; i += 1) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { groups, commits, endAll };
}

describe('a group commit', () => {
  it('starts a single item in the same turn, and the next group when the previous one ends', async () => {
    const { groups, commits, endAll } = stage();
    const lone = commits.add('a');
    await Promise.resolve();
    expect(groups).toEqual([['a']]);
    const results = [lone, ...['b', 'c', 'd', 'e'].map((item) => commits.add(item))];
    await endAll();
    expect(await Promise.all(results)).toEqual(['a kept', 'b kept', 'c kept', 'd kept', 'e kept']);
    expect(groups).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  });

  it('groups items that arrive at the same time', async () => {
    const { groups, commits, endAll } = stage({ inFlight: 2 });
    const results = ['a', 'b'].map((item) => commits.add(item));
    await endAll();
    await Promise.all(results);
    expect(groups).toEqual([['a', 'b']]);
  });

  it('takes items up to the maximum weight, and a heavier one alone', async () => {
    const { groups, commits, endAll } = stage({ size: 100, maxWeight: 10 });
    const items = ['weighs 4', 'weighs 6 a', 'weighs 1', 'weighs 50', 'weighs 6 b', 'weighs 6 c'];
    const results = items.map((item) => commits.add(item));
    await endAll();
    await Promise.all(results);
    expect(groups).toEqual([['weighs 4', 'weighs 6 a'], ['weighs 1'], ['weighs 50'], ['weighs 6 b'], ['weighs 6 c']]);
  });

  it('takes all waiting items', async () => {
    const { groups, commits, endAll } = stage({ size: 100 });
    const first = commits.add('first');
    await Promise.resolve();
    const results = [first, ...Array.from({ length: 41 }, (_, i) => commits.add(`item ${i}`))];
    await endAll();
    await Promise.all(results);
    expect(groups.map((group) => group.length)).toEqual([1, 41]);
  });

  it('starts the next group before the items of the previous one are answered', async () => {
    const { groups, commits, endAll } = stage({ size: 1 });
    const results = ['a', 'b'].map((item) => commits.add(item).then(() => groups.push([`${item} heard`])));
    await endAll();
    await Promise.all(results);
    expect(groups).toEqual([['a'], ['b'], ['a heard'], ['b heard']]);
  });

  it('is not idle while an item waits for its start', async () => {
    const { groups, commits, endAll } = stage();
    const result = commits.add('a');
    const idle = commits.idle().then(() => groups.push(['idle']));
    await endAll();
    await Promise.all([result, idle]);
    expect(groups).toEqual([['a'], ['idle']]);
  });

  it('is not idle while a caller whose item ended adds another', async () => {
    const { groups, commits, endAll } = stage();
    const heard: string[] = [];
    const result = commits.add('a').then(async () => heard.push(await commits.add('b')));
    const idle = commits.idle().then(() => heard.push('idle'));
    await endAll();
    await Promise.all([result, idle]);
    expect(heard).toEqual(['b kept', 'idle']);
    expect(groups).toEqual([['a'], ['b']]);
  });

  it('never exceeds its maximum number of concurrent groups', async () => {
    const { groups, commits, endAll } = stage({ inFlight: 2, size: 1 });
    const results = ['a', 'b', 'c'].map((item) => commits.add(item));
    await Promise.resolve();
    expect(groups).toEqual([['a'], ['b']]);
    await endAll();
    await Promise.all(results);
    expect(groups).toHaveLength(3);
  });

  it('lets only the faulty item fail, with its own error', async () => {
    const { groups, commits, endAll } = stage({ bad: 'x', size: 8 });
    const results = ['a', 'b', 'x', 'c', 'd'].map((item) => commits.add(item));
    const settled = Promise.allSettled(results);
    await endAll();
    expect((await settled).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(groups.at(0)).toEqual(['a', 'b', 'x', 'c', 'd']);
  });

  it('fails a whole group once when the error belongs to no item', async () => {
    const { groups, commits, endAll } = stage({ fails: 'x', size: 8 });
    const results = ['a', 'b', 'x', 'c'].map((item) => commits.add(item));
    const settled = Promise.allSettled(results);
    await endAll();
    expect((await settled).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(groups).toEqual([['a', 'b', 'x', 'c']]);
  });

  it('refuses items that waited too long for their turn, and never commits them', async () => {
    const { groups, commits, endAll } = stage({ maxWaitMs: 20 });
    const results = [commits.add('a')];
    await Promise.resolve();
    results.push(commits.add('b'));
    const settled = Promise.allSettled(results);
    await new Promise((resolve) => setTimeout(resolve, 30));
    await endAll();
    expect(await settled).toMatchObject([{ value: 'a kept' }, { reason: { message: 'full' } }]);
    expect(groups).toEqual([['a']]);
    await expect(commits.idle()).resolves.toBeUndefined();
  });

  it('never has two items with one key in a group', async () => {
    const { groups, commits, endAll } = stage();
    const results = ['key:1', 'a', 'key:1', 'key:2'].map((item) => commits.add(item));
    await endAll();
    await Promise.all(results);
    expect(groups).toEqual([['key:1', 'a', 'key:2'], ['key:1']]);
  });

  it('refuses items that would wait behind too many', async () => {
    const { commits, endAll } = stage({ maxWaiting: 1 });
    const results = [commits.add('a')];
    await Promise.resolve();
    expect(commits.isFull()).toBe(false);
    results.push(commits.add('b'));
    expect(commits.isFull()).toBe(true);
    await expect(commits.add('c')).rejects.toThrow('full');
    await endAll();
    await Promise.all(results);
    await expect(commits.idle()).resolves.toBeUndefined();
  });
});
