import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurnMeasure } from '../../src/kernel/event-loop.ts';

function measure() {
  const clock = { ms: 1000 };
  return { clock, turn: createTurnMeasure({ shareMs: 10, now: () => clock.ms }) };
}

it('is spent once the works of a turn have had their share together', () => {
  const { clock, turn } = measure();
  expect(turn.spent()).toBe(false);
  clock.ms += 6;
  expect(turn.spent()).toBe(false);
  clock.ms += 6;
  expect(turn.spent()).toBe(true);
  expect(turn.spent()).toBe(true);
});

it('begins anew with the next turn', async () => {
  const { clock, turn } = measure();
  turn.spent();
  clock.ms += 50;
  expect(turn.spent()).toBe(true);
  await nextTurn();
  expect(turn.spent()).toBe(false);
  clock.ms += 9;
  expect(turn.spent()).toBe(false);
});

it('does not wait while there is something left of the turn', async () => {
  const { clock, turn } = measure();
  let others = 0;
  setImmediate(() => {
    others += 1;
  });
  await turn.breathe();
  expect(others).toBe(0);
  clock.ms += 10;
  await turn.breathe();
  expect(others).toBe(1);
});

it('lets what was put off go on in a turn that is not spent', async () => {
  const { clock, turn } = measure();
  turn.spent();
  clock.ms += 20;
  const seen: boolean[] = [];
  turn.later(() => seen.push(turn.spent()));
  expect(seen).toEqual([]);
  await nextTurn();
  expect(seen).toEqual([false]);
});
