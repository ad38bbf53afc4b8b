/** Answers in progress stay within a total memory limit. */
import { expect, it } from 'vitest';
import { Problem } from '../../src/lib/problem.ts';
import { createSemaphore } from '../../src/lib/scheduling.ts';
import { platformProblems } from '../../src/plugins/problems.ts';

const here = new AbortController().signal;

function createAnswerMemory(maxBytes: number, waitMs: number) {
  const full = (): Problem => new Problem(platformProblems.unavailable, { headers: { 'retry-after': '1' } });
  let used = 0;
  const changed = ({ weight }: { readonly weight: number }): void => {
    used = weight;
  };
  const { acquire } = createSemaphore({ maxWeight: maxBytes, waitMs, full, changed });
  return { acquire: (bytes: number, signal: AbortSignal) => acquire({ weight: bytes }, signal), used: () => used };
}

it('grants requests that fit, and one larger than the limit when nothing else holds memory', async () => {
  const room = createAnswerMemory(100, 20);
  const large = await room.acquire(1000, here);
  const refused = await room.acquire(1, here).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Problem);
  expect(refused).toMatchObject({ kind: { status: 503 }, headers: { 'retry-after': '1' } });
  large.release();
  large.release();
  expect(room.used()).toBe(0);
  await Promise.all([room.acquire(60, here), room.acquire(40, here)]);
  await expect(room.acquire(1, here)).rejects.toBeInstanceOf(Problem);
});

it('grants waiting requests in order, as soon as a lease is resized or released', async () => {
  const room = createAnswerMemory(100, 5000);
  const first = await room.acquire(90, here);
  const order: string[] = [];
  const waiting = ['b', 'c'].map(async (name) => {
    const place = await room.acquire(45, here);
    order.push(name);
    return place;
  });
  const gone = new AbortController();
  const left = room.acquire(10, gone.signal);
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(order).toEqual([]);
  first.resize(10);
  const places = await Promise.all(waiting);
  expect(order).toEqual(['b', 'c']);
  for (const place of [first, ...places]) place.release();
  expect(room.used()).toBe(0);
});
