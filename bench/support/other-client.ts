/** The client that behaves: what it waits for while others are hostile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { middle } from './turns.ts';

export interface Ask {
  readonly name: string;
  /** Milliseconds between calls. */
  readonly everyMs: number;
  /** @throws {Error} when the answer is not the one that it should be */
  readonly call: () => Promise<void>;
}

export interface Waited {
  readonly name: string;
  readonly medianMs: number;
  readonly worstMs: number;
  readonly calls: number;
  readonly failed: readonly string[];
}

/** Asks each thing again and again, one call at a time, while `work` runs. */
export async function measureWhile<T>(
  asks: readonly Ask[],
  work: () => Promise<T>,
): Promise<{ result: T; waited: Waited[] }> {
  let running = true;
  const measuring = asks.map(async ({ name, everyMs, call }): Promise<Waited> => {
    const taken: number[] = [];
    const failed: string[] = [];
    while (running) {
      const started = performance.now();
      await call().catch((error: unknown) => failed.push(error instanceof Error ? error.message : String(error)));
      taken.push(performance.now() - started);
      await sleep(everyMs);
    }
    return { name, medianMs: middle(taken), worstMs: Math.max(...taken), calls: taken.length, failed };
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
