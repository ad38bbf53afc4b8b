import { Problem } from '../../kernel/problem.ts';
import { gegevensProblems } from '../problems.ts';

/** What an answer takes of the memory for answers under way, until it is left. */
export interface Place {
  /** Says how many bytes it really takes. */
  resize(bytes: number): void;
  /** Counts it for somebody who still wants it, when the client that it was counted for does not any more. */
  reassign(): void;
  leave(): void;
}

export interface Wanted {
  /** About how many it will take. */
  readonly bytes: number;
  /** Who wants it at any moment; it is taken from the share of one of them. */
  readonly clients: readonly string[];
  /** The answer is in memory already: only the client's share is waited for. */
  readonly inMemory?: boolean;
}

/** The memory for large answers that are being made or sent: those that find no room wait, in the order in which they came. */
export interface AnswerRoom {
  /**
   * Waits until there is room. A small answer never waits. One client gets at most half of the room, so that nobody can keep the others
   * out of it; but one answer at a time each gets, however large, and one that is larger than all of the room gets it alone.
   * @throws {Problem} `service-unreachable` when there was no room in time; the signal's reason
   */
  enter(wanted: Wanted, signal: AbortSignal): Promise<Place>;
  /** To be called when somebody has joined the clients of one that may be waiting. */
  joined(): void;
}

export interface AnswerRoomOptions {
  readonly maxBytes: number;
  /** Longest time in milliseconds that an answer waits. */
  readonly waitMs: number;
  readonly changed: (state: { readonly bytes: number; readonly waiting: number }) => void;
}

interface Waiting extends Wanted {
  readonly admit: (client: string) => void;
}

/** Below it an answer is not counted: thousands of these are less than the connections that ask for them take. */
const SMALL_BYTES = 256 * 1024;
const CLIENT_SHARE = 1 / 2;

/** Whether an answer takes room. */
export function isLarge(bytes: number): boolean {
  return bytes > SMALL_BYTES;
}

export function createAnswerRoom({ maxBytes, waitMs, changed }: AnswerRoomOptions): AnswerRoom {
  const queue = new Set<Waiting>();
  const usedBy = new Map<string, number>();
  let used = 0;

  const count = (client: string, bytes: number): void => {
    used += bytes;
    const total = (usedBy.get(client) ?? 0) + bytes;
    if (total > 0) usedBy.set(client, total);
    else usedBy.delete(client);
  };
  const fits = ({ bytes, inMemory }: Wanted): boolean => inMemory === true || used === 0 || used + bytes <= maxBytes;
  const hasShare = (client: string, bytes: number): boolean => {
    const own = usedBy.get(client) ?? 0;
    return own === 0 || own + bytes <= maxBytes * CLIENT_SHARE;
  };
  const tell = (): void => changed({ bytes: used, waiting: queue.size });
  const admit = (): void => {
    for (const waiting of queue) {
      // Who has used up his share holds up nobody behind him; who waits for the room itself is not overtaken.
      const client = waiting.clients.find((each) => hasShare(each, waiting.bytes));
      if (client === undefined) continue;
      if (!fits(waiting)) break;
      queue.delete(waiting);
      waiting.admit(client);
    }
    tell();
  };
  const take = ({ bytes, clients }: Wanted, client: string): Place => {
    let mine = counted(bytes);
    let owner = client;
    let left = false;
    count(owner, mine);
    tell();
    const resize = (actual: number): void => {
      if (left) return;
      count(owner, counted(actual) - mine);
      mine = counted(actual);
      admit();
    };
    return {
      resize,
      reassign: () => {
        const [other] = clients;
        if (left || other === undefined || clients.includes(owner)) return;
        count(owner, -mine);
        owner = other;
        count(owner, mine);
        admit();
      },
      leave: () => {
        resize(0);
        left = true;
      },
    };
  };

  return {
    joined: admit,
    async enter(wanted, signal) {
      signal.throwIfAborted();
      if (!isLarge(wanted.bytes)) return take(wanted, wanted.clients[0] ?? '');
      return await new Promise<Place>((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', gone);
        };
        const me: Waiting = {
          ...wanted,
          admit: (client) => {
            end();
            resolve(take(wanted, client));
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
        admit();
      });
    },
  };
}

function counted(bytes: number): number {
  return isLarge(bytes) ? bytes : 0;
}

function fullProblem(waitMs: number): Problem {
  return new Problem(gegevensProblems.dienstOnbereikbaar, {
    detail: 'Er zijn nu te veel grote leveringen tegelijk onderweg; er is niets geleverd.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
    fsc: 'ERROR_CODE_SERVICE_UNREACHABLE',
  });
}
