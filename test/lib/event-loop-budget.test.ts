import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createEventLoopBudget } from '../../src/lib/scheduling.ts';

function measure() {
  const clock = { ms: 1000 };
  return { clock, eventLoopBudget: createEventLoopBudget({ shareMs: 10, now: () => clock.ms }) };
}

it('is exhausted once the works of a turn have had their share together', () => {
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

it('does not wait while there is something left of the turn', async () => {
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

it('lets what was put off go on in a turn whose budget is not exhausted', async () => {
  const { clock, eventLoopBudget } = measure();
  eventLoopBudget.exhausted();
  clock.ms += 20;
  const seen: boolean[] = [];
  eventLoopBudget.defer(() => seen.push(eventLoopBudget.exhausted()));
  expect(seen).toEqual([]);
  await nextTurn();
  expect(seen).toEqual([false]);
});
