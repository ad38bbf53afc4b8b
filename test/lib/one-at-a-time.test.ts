import { describe, expect, it } from 'vitest';
import { createOneAtATime } from '../../src/lib/scheduling.ts';

/** Work that the test ends, in the order in which it started. */
function stage() {
  const queue = createOneAtATime();
  const started: string[] = [];
  const ends: (() => void)[] = [];
  let atOnce = 0;
  const run = (client: string, name: string, error?: Error) =>
    queue.run(client, async () => {
      started.push(name);
      atOnce += 1;
      expect(atOnce).toBe(1);
      await new Promise<void>((resolve) => ends.push(resolve));
      atOnce -= 1;
      if (error !== undefined) throw error;
      return `${name} done`;
    });
  const endAll = async (): Promise<void> => {
    for (let turns = 0; turns < 30; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      ends.shift()?.();
    }
  };
  return { queue, started, run, endAll };
}

describe('one at a time', () => {
  it('starts a single piece of work at once', async () => {
    const { started, run, endAll } = stage();
    const result = run('a', 'a1');
    expect(started).toEqual(['a1']);
    await endAll();
    expect(await result).toBe('a1 done');
  });

  it('runs one piece of work at a time, those of one client in order', async () => {
    const { started, run, endAll } = stage();
    const results = ['a1', 'a2', 'a3'].map((name) => run('a', name));
    await endAll();
    expect(await Promise.all(results)).toEqual(['a1 done', 'a2 done', 'a3 done']);
    expect(started).toEqual(['a1', 'a2', 'a3']);
  });

  it('lets clients take turns: one with much work delays another by one piece at a time', async () => {
    const { started, run, endAll } = stage();
    const results = [
      ...['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name)),
      ...['b1', 'b2'].map((name) => run('b', name)),
      run('c', 'c1'),
    ];
    await endAll();
    await Promise.all(results);
    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('continues after failed work, and passes its error to that caller only', async () => {
    const { started, run, endAll } = stage();
    const failed = expect(run('a', 'a1', new Error('broken'))).rejects.toThrow('broken');
    const next = run('b', 'b1');
    await endAll();
    await failed;
    expect(await next).toBe('b1 done');
    expect(started).toEqual(['a1', 'b1']);
  });

  it('is idle when nothing runs or waits', async () => {
    const { queue, started, run, endAll } = stage();
    await queue.idle();
    const results = [run('a', 'a1'), run('a', 'a2')];
    const idle = queue.idle().then(() => started.push('idle'));
    await endAll();
    await Promise.all([...results, idle]);
    expect(started).toEqual(['a1', 'a2', 'idle']);
  });
});
