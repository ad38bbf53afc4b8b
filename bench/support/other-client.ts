/** The well-behaved client: how long it waits while others are hostile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { middle } from './turns.ts';

export interface Ask {
  readonly name: string;
  /** Milliseconds between calls. */
  readonly everyMs: number;
  /** @throws {Error} on an incorrect answer */
  readonly call: () => Promise<void>;
}

export interface Waited {
  readonly name: string;
  /** Infinite when half of the calls failed. */
  readonly medianMs: number;
  readonly worstMs: number;
  readonly calls: number;
  readonly failed: readonly string[];
}

/** Repeats each call, one at a time, while `work` runs. */
export async function measureWhile<T>(
  asks: readonly Ask[],
  work: () => Promise<T>,
): Promise<{ result: T; waited: Waited[] }> {
  let running = true;
  const measuring = asks.map(async ({ name, everyMs, call }): Promise<Waited> => {
    const taken: number[] = [];
    const failed: string[] = [];
    let worst = 0;
    let calls = 0;
    while (running) {
      const started = performance.now();
      const fault = await call().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      const ms = performance.now() - started;
      worst = Math.max(worst, ms);
      calls += 1;
      if (fault !== undefined) failed.push(fault);
      // A client on a fixed schedule would have called meanwhile too and waited the rest of the time; without those
      // calls a long wait would count once.
      for (let rest = ms; rest > 0; rest -= everyMs) taken.push(fault === undefined ? rest : Number.POSITIVE_INFINITY);
      await sleep(everyMs);
    }
    return { name, medianMs: middle(taken), worstMs: worst, calls, failed };
  });
  try {
    const result = await work();
    return { result, waited: await finish() };
  } catch (error) {
    await finish();
    throw error;
  }

  function finish(): Promise<Waited[]> {
    running = false;
    return Promise.all(measuring);
  }
}
