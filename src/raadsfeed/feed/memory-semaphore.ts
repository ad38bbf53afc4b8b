/** Bounds the memory of answers that are being made: rows that were read, their body, and what it is compressed to. */
import { platformProblems } from '../../http/problems.ts';
import { Problem } from '../../kernel/problem.ts';

interface MemorySemaphore {
  /**
   * Waits until this many bytes are free, first come, first served. When nothing else holds any, however many are granted.
   * @param bytes an estimate
   * @throws {Problem} `unavailable` when they were not free in time; the signal's reason
   */
  acquire(bytes: number, signal: AbortSignal): Promise<MemoryLease>;
  readonly used: () => number;
}

interface MemoryLease {
  /** Corrects the estimate. */
  resize(bytes: number): void;
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

export function createMemorySemaphore(maxBytes: number, waitMs: number): MemorySemaphore {
  const queue = new Set<Waiting>();
  let used = 0;

  const fits = (bytes: number): boolean => used === 0 || used + bytes <= maxBytes;
  const admitWaiting = (): void => {
    for (const first of queue) {
      if (!fits(first.bytes)) return;
      queue.delete(first);
      first.admit();
    }
  };
  const grant = (bytes: number): MemoryLease => {
    let held = bytes;
    used += held;
    const resize = (actual: number): void => {
      used += actual - held;
      held = actual;
      admitWaiting();
    };
    return { resize, release: () => resize(0) };
  };

  return {
    used: () => used,
    async acquire(bytes, signal) {
      signal.throwIfAborted();
      if (queue.size === 0 && fits(bytes)) return grant(bytes);
      return await new Promise<MemoryLease>((resolve, reject) => {
        const stopWaiting = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', aborted);
        };
        const giveUp = (reason: unknown): void => {
          stopWaiting();
          queue.delete(me);
          // Those behind it may be smaller.
          admitWaiting();
          reject(reason);
        };
        const me: Waiting = {
          bytes,
          admit: () => {
            stopWaiting();
            resolve(grant(bytes));
          },
        };
        const aborted = (): void => giveUp(signal.reason);
        const timedOut = (): void =>
          giveUp(new Problem(platformProblems.unavailable, { headers: { 'retry-after': '1' } }));
        const timer = setTimeout(timedOut, waitMs);
        signal.addEventListener('abort', aborted, { once: true });
        queue.add(me);
      });
    },
  };
}
