import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createEventLoopBudget } from '../../src/lib/scheduling.ts';

function measure() {
  const clock = { ms: 1000 };
  return { clock, eventLoopBudget: createEventLoopBudget(10, () => clock.ms) };
}

it('is exhausted once all work in a turn has used it up', () => {
  const { clock, eventLoopBudget } = measure();
  expect(eventLoopBudget.exhausted()).toBe(false);
  clock.ms += 6;
  expect(eventLoopBudget.exhausted()).toBe(false);
  clock.ms += 6;
  expect(eventLoopBudget.exhausted()).toBe(true);
  expect(eventLoopBudget.exhausted()).toBe(true);
});

it('starts from zero with the next turn', async () => {
  const { clock, eventLoopBudget } = measure();
  eventLoopBudget.exhausted();
  clock.ms += 50;
  expect(eventLoopBudget.exhausted()).toBe(true);
  await nextTurn();
  expect(eventLoopBudget.exhausted()).toBe(false);
  clock.ms += 9;
  expect(eventLoopBudget.exhausted()).toBe(false);
});

it('does not wait while the turn has budget left', async () => {
  const { clock, eventLoopBudget } = measure();
  let others = 0;
  setImmediate(() => {
    others += 1;
  });
  await eventLoopBudget.yield();
  expect(others).toBe(0);
  clock.ms += 10;
  await eventLoopBudget.yield();
  expect(others).toBe(1);
});

it('lets deferred work continue in a turn with budget left', async () => {
  const { clock, eventLoopBudget } = measure();
  eventLoopBudget.exhausted();
  clock.ms += 20;
  const seen: boolean[] = [];
  setImmediate(() => seen.push(eventLoopBudget.exhausted()));
  expect(seen).toEqual([]);
  await nextTurn();
  expect(seen).toEqual([false]);
});
