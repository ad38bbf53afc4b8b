import { Problem } from '../../kernel/problem.ts';
import { gegevensProblems } from '../problems.ts';

/** Memory that an answer holds from `acquire` until `release`. */
export interface MemoryPermit {
  /** Corrects the estimate to the real number of bytes. */
  resize(bytes: number): void;
  /** Moves it to the share of another client that still wants the answer, when its own client does not any more. */
  reassign(): void;
  release(): void;
}

interface MemoryRequest {
  /** Estimated. */
  readonly bytes: number;
  /** Who wants the answer, kept up to date by the caller; it counts towards the share of one of them. */
  readonly clients: readonly string[];
  /** The answer is in memory already: only the client's share is waited for. */
  readonly inMemory?: boolean;
}

/**
 * A weighted semaphore over the memory for large answers that are being made or sent. Waiting is in order of arrival. One client gets at
 * most half, so that it cannot starve the others, but always one answer, however large; an answer larger than the whole budget is let
 * through when nothing else is held.
 */
export interface MemorySemaphore {
  /** A small answer never waits. @throws {Problem} `service-unreachable` after `waitMs`; the signal's reason */
  acquire(wanted: MemoryRequest, signal: AbortSignal): Promise<MemoryPermit>;
  /** To be called when a client was added to a request that may be waiting. */
  retryWaiting(): void;
}

interface MemorySemaphoreOptions {
  readonly maxBytes: number;
  /** Longest time in milliseconds that an answer waits. */
  readonly waitMs: number;
  readonly changed: (state: { readonly bytes: number; readonly waiting: number }) => void;
}

interface Waiter extends MemoryRequest {
  readonly admit: (client: string) => void;
}

/** Smaller answers are not counted: thousands of them take less than the connections that ask for them. */
const SMALL_BYTES = 256 * 1024;
const CLIENT_SHARE = 1 / 2;

/** Whether an answer counts. */
export function isLarge(bytes: number): boolean {
  return bytes > SMALL_BYTES;
}

export function createMemorySemaphore({ maxBytes, waitMs, changed }: MemorySemaphoreOptions): MemorySemaphore {
  const queue = new Set<Waiter>();
  const usedBy = new Map<string, number>();
  let used = 0;

  const report = (): void => changed({ bytes: used, waiting: queue.size });
  const charge = (client: string, bytes: number): void => {
    used += bytes;
    const total = (usedBy.get(client) ?? 0) + bytes;
    if (total > 0) usedBy.set(client, total);
    else usedBy.delete(client);
  };
  const fits = ({ bytes, inMemory }: MemoryRequest): boolean =>
    inMemory === true || used === 0 || used + bytes <= maxBytes;
  const hasShare = (client: string, bytes: number): boolean => {
    const own = usedBy.get(client) ?? 0;
    return own === 0 || own + bytes <= maxBytes * CLIENT_SHARE;
  };
  const admitWaiting = (): void => {
    for (const waiter of queue) {
      // A client without share left is skipped and blocks no other; one that lacks only memory is not overtaken.
      const client = waiter.clients.find((each) => hasShare(each, waiter.bytes));
      if (client === undefined) continue;
      if (!fits(waiter)) break;
      queue.delete(waiter);
      waiter.admit(client);
    }
    report();
  };

  const grant = ({ bytes, clients }: MemoryRequest, client: string): MemoryPermit => {
    let held = counted(bytes);
    let owner = client;
    let isReleased = false;
    charge(owner, held);
    report();
    const resize = (actual: number): void => {
      if (isReleased) return;
      charge(owner, counted(actual) - held);
      held = counted(actual);
      admitWaiting();
    };
    return {
      resize,
      reassign: () => {
        const [other] = clients;
        if (isReleased || other === undefined || clients.includes(owner)) return;
        charge(owner, -held);
        owner = other;
        charge(owner, held);
        admitWaiting();
      },
      release: () => {
        resize(0);
        isReleased = true;
      },
    };
  };

  return {
    retryWaiting: admitWaiting,
    async acquire(wanted, signal) {
      signal.throwIfAborted();
      if (!isLarge(wanted.bytes)) return grant(wanted, wanted.clients[0] ?? '');
      return await new Promise<MemoryPermit>((resolve, reject) => {
        const cleanUp = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
        };
        const waiter: Waiter = {
          ...wanted,
          admit: (client) => {
            cleanUp();
            resolve(grant(wanted, client));
          },
        };
        const giveUp = (reason: unknown): void => {
          cleanUp();
          queue.delete(waiter);
          // Those behind it may be smaller.
          admitWaiting();
          reject(reason);
        };
        const onAbort = (): void => giveUp(signal.reason);
        const timer = setTimeout(() => giveUp(tooManyLargeAnswers(waitMs)), waitMs);
        signal.addEventListener('abort', onAbort, { once: true });
        queue.add(waiter);
        admitWaiting();
      });
    },
  };
}

function counted(bytes: number): number {
  return isLarge(bytes) ? bytes : 0;
}

function tooManyLargeAnswers(waitMs: number): Problem {
  return new Problem(gegevensProblems.dienstOnbereikbaar, {
    detail: 'Er zijn nu te veel grote leveringen tegelijk onderweg; er is niets geleverd.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
    fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
  });
}
