import { Problem } from '../../kernel/problem.ts';
import { gegevensProblems } from '../problems.ts';

/** What an answer takes of the memory for answers under way, until it is left. */
export interface Place {
  /** Says how many bytes it really takes. */
  resize(bytes: number): void;
  leave(): void;
}

/** The memory for large answers that are being made or sent: those that find no room wait, in the order in which they came. */
export interface AnswerRoom {
  /**
   * Waits until there is room. A small answer never waits; one that is larger than all of the room gets it alone.
   * @param bytes about how many it will take
   * @throws {Problem} `service-unreachable` when there was no room in time; the signal's reason
   */
  enter(bytes: number, signal: AbortSignal): Promise<Place>;
  /** Counts an answer that is in memory already. */
  add(bytes: number): Place;
}

export interface AnswerRoomOptions {
  readonly maxBytes: number;
  /** Longest time in milliseconds that an answer waits. */
  readonly waitMs: number;
  readonly changed: (state: { readonly bytes: number; readonly waiting: number }) => void;
}

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Below it an answer is not counted: thousands of these are less than the connections that ask for them take. */
const SMALL_BYTES = 256 * 1024;

export function createAnswerRoom({ maxBytes, waitMs, changed }: AnswerRoomOptions): AnswerRoom {
  const queue = new Set<Waiting>();
  let used = 0;

  const fits = (bytes: number): boolean => used === 0 || used + bytes <= maxBytes;
  const tell = (): void => changed({ bytes: used, waiting: queue.size });
  const admit = (): void => {
    for (const first of queue) {
      if (!fits(first.bytes)) break;
      queue.delete(first);
      first.admit();
    }
    tell();
  };
  const take = (bytes: number): Place => {
    let mine = counted(bytes);
    let left = false;
    used += mine;
    tell();
    const resize = (actual: number): void => {
      if (left) return;
      used += counted(actual) - mine;
      mine = counted(actual);
      admit();
    };
    return {
      resize,
      leave: () => {
        resize(0);
        left = true;
      },
    };
  };

  return {
    add: take,
    async enter(bytes, signal) {
      signal.throwIfAborted();
      if (counted(bytes) === 0 || (queue.size === 0 && fits(bytes))) return take(bytes);
      return await new Promise<Place>((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', gone);
        };
        const me: Waiting = {
          bytes,
          admit: () => {
            end();
            resolve(take(bytes));
          },
        };
        const giveUp = (reason: unknown): void => {
          end();
          queue.delete(me);
          // Those behind it may be smaller.
          admit();
          reject(reason);
        };
        const gone = (): void => giveUp(signal.reason);
        const timer = setTimeout(() => giveUp(fullProblem(waitMs)), waitMs);
        signal.addEventListener('abort', gone, { once: true });
        queue.add(me);
        tell();
      });
    },
  };
}

function counted(bytes: number): number {
  return bytes <= SMALL_BYTES ? 0 : bytes;
}

function fullProblem(waitMs: number): Problem {
  return new Problem(gegevensProblems.dienstOnbereikbaar, {
    detail: 'Er zijn nu te veel grote leveringen tegelijk onderweg; er is niets geleverd.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
    fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
  });
}
