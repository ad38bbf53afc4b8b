import { expect, it } from 'vitest';
import { createSharedQuestion } from '../../src/raadsfeed/shared-question.ts';

/** A question whose answers are given by hand: each is the time, counted in steps, at which it began. */
function askedByHand() {
  let step = 0;
  const nextStep = (): number => {
    step += 1;
    return step;
  };
  const underWay: { began: number; resolve: (began: number) => void; reject: (error: Error) => void }[] = [];
  let begun = 0;
  const current = createSharedQuestion(() => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    begun += 1;
    underWay.push({ began: nextStep(), resolve, reject });
    return promise;
  });
  return {
    /** Comes to ask. @returns when it came, and when its question began */
    come: async () => {
      const came = nextStep();
      return { came, began: await current() };
    },
    begun: () => begun,
    underWay: () => underWay.length,
    answer: () => {
      const question = underWay.shift();
      question?.resolve(question.began);
    },
    fail: () => underWay.shift()?.reject(new Error('the database is gone')),
  };
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve));

it('begins after everyone who shares it has come, and is one at a time', async () => {
  const question = askedByHand();
  const first = [question.come(), question.come()];
  await endOfTurn();
  const second = [question.come(), question.come(), question.come()];
  await endOfTurn();
  expect([question.begun(), question.underWay()]).toEqual([1, 1]);
  question.answer();
  await endOfTurn();
  expect([question.begun(), question.underWay()]).toEqual([2, 1]);
  question.answer();
  const [a, b] = [await Promise.all(first), await Promise.all(second)];
  for (const { came, began } of [...a, ...b]) expect(began).toBeGreaterThan(came);
  expect(new Set(b.map(({ began }) => began)).size).toBe(1);
  await endOfTurn();
  expect(question.begun()).toBe(2);
});

it('fails for those who shared it, and for nobody else', async () => {
  const question = askedByHand();
  const first = question.come();
  await endOfTurn();
  const second = [question.come(), question.come()];
  question.fail();
  await expect(first).rejects.toThrow('the database is gone');
  await endOfTurn();
  question.answer();
  expect((await Promise.all(second)).map(({ began }) => began)).toHaveLength(2);
  const third = question.come();
  await endOfTurn();
  question.answer();
  const { came, began } = await third;
  expect(began).toBeGreaterThan(came);
});
