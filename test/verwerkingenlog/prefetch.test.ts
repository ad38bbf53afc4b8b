import { nextTick } from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLazy } from '../../src/verwerkingenlog/prefetch.ts';

/** A maker that tells when it made what, in turns of which `share` things can be made. */
function stage(share = 100) {
  const seen: string[] = [];
  let left = share;
  const ahead = createLazy<string, string>(
    (item) => {
      seen.push(`make ${item}`);
      left -= 1;
      if (item === 'bad') throw new Error('cannot be made');
      return `${item} made`;
    },
    {
      exhausted: () => left <= 0,
      defer: (go) => {
        seen.push('later');
        setImmediate(() => {
          left = share;
          go();
        });
      },
    },
  );
  const soon = (item: string) => {
    const one = ahead(item);
    one.prefetch();
    return one;
  };
  return { seen, ahead, soon };
}

describe('a prefetched value', () => {
  it('is computed when all items of the turn have arrived, before anything else is read', async () => {
    const { seen, soon } = stage();
    queueMicrotask(() => {
      soon('a');
      seen.push('came a');
      queueMicrotask(() => {
        soon('b');
        seen.push('came b');
      });
    });
    await nextTurn();
    expect(seen).toEqual(['came a', 'came b', 'make a', 'make b']);
  });

  it('is computed at once when it is needed sooner, and only once', async () => {
    const { seen, soon } = stage();
    const a = soon('a');
    soon('b');
    expect(a.value()).toBe('a made');
    expect(seen).toEqual(['make a']);
    await nextTurn();
    expect(a.value()).toBe('a made');
    expect(a.item).toBe('a');
    expect(seen).toEqual(['make a', 'make b']);
  });

  it('is not computed when nobody needs it', async () => {
    const { seen, ahead, soon } = stage();
    ahead('refused');
    soon('a');
    await nextTurn();
    expect(seen).toEqual(['make a']);
  });

  it('yields the event loop when its budget of a turn is exhausted', async () => {
    const { seen, soon } = stage(2);
    for (const item of ['a', 'b', 'c', 'd', 'e']) soon(item);
    await new Promise<void>((resolve) => nextTick(resolve));
    soon('f');
    expect(seen).toEqual(['make a', 'make b', 'later']);
    for (let turns = 0; turns < 3; turns += 1) await nextTurn();
    expect(seen).toEqual(['make a', 'make b', 'later', 'make c', 'make d', 'later', 'make e', 'make f']);
  });

  it('throws its own error to its caller, and to nobody else', async () => {
    const { seen, soon } = stage();
    const [bad, good] = [soon('bad'), soon('good')];
    await nextTurn();
    expect(() => bad.value()).toThrow('cannot be made');
    expect(() => bad.value()).toThrow('cannot be made');
    expect(good.value()).toBe('good made');
    expect(seen).toEqual(['make bad', 'make good']);
  });
});
