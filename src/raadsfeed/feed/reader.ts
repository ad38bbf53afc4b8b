/** Chooses the database that a read is answered from: the replica when it has what the read must have, else the primary. */
import type { Db } from '../../kernel/database/transaction.ts';
import { type Logger, reasonOf } from '../../kernel/log.ts';
import type { ReadinessResult } from '../../kernel/platform.ts';
import { type FeedHead, readFeedHead } from '../store/feed-row.ts';
import type { Read } from '../store/read-log.ts';
import { type HeadCache, hasHistoryOf } from './head.ts';

/** Milliseconds that a replica may take; the primary answers after that. */
const REPLICA_TIMEOUT_MS = 2000;
/** Milliseconds that a replica is not read after it failed. */
const REPLICA_REST_MS = 5000;
/** Milliseconds that a replica may be behind before the readiness warns. */
const STALLED_MS = 5000;

export interface FeedReader {
  /**
   * Runs a read. Its result is at least as new as the redactions, the pruning and the head of the last poll that this instance knows.
   * @param reach a number that the client has seen; the result has it
   */
  read<T extends Read>(query: (db: Db) => Promise<T>, reach?: number): Promise<T>;
  /** For operators: whether the replica keeps up. A stalled one still serves: its reads go to the primary. */
  checkReplica(): Promise<ReadinessResult>;
}

export interface FeedReaderOptions {
  readonly primary: Db;
  /** Absent: everything is read from the primary. */
  readonly replica: Db | undefined;
  readonly heads: HeadCache;
  readonly log: Logger;
}

export function createFeedReader({ primary, replica, heads, log }: FeedReaderOptions): FeedReader {
  let restUntil = Number.NEGATIVE_INFINITY;
  let behindSince: number | undefined;

  /** Compared with what is known now, not with what was known when the read began. */
  const isEnough = (found: FeedHead, reach: number): boolean => {
    const known = heads.cachedHead();
    const enough =
      known !== undefined &&
      hasHistoryOf(found, known) &&
      found.head.sequenceNumber >= Math.max(reach, heads.requiredNumber());
    if (enough) behindSince = undefined;
    else behindSince ??= heads.now();
    return enough;
  };

  const readReplica = async <T extends Read>(
    db: Db,
    query: (db: Db) => Promise<T>,
    reach: number,
  ): Promise<T | undefined> => {
    try {
      const found = await withTimeout(REPLICA_TIMEOUT_MS, query(db));
      return isEnough(found.head, reach) ? found : undefined;
    } catch (error) {
      restUntil = heads.now() + REPLICA_REST_MS;
      behindSince ??= heads.now();
      log.warn({ err: error }, 'the replica cannot be read: the primary answers');
      return undefined;
    }
  };

  return {
    async read(query, reach = 0) {
      if (replica !== undefined && heads.now() >= restUntil) {
        const found = await readReplica(replica, query, reach);
        if (found !== undefined) return found;
      }
      const since = heads.now();
      const found = await query(primary);
      heads.observe(found.head, since);
      return found;
    },
    async checkReplica() {
      if (replica === undefined) return { ok: true };
      try {
        isEnough(await withTimeout(REPLICA_TIMEOUT_MS, readFeedHead(replica)), 0);
        restUntil = Number.NEGATIVE_INFINITY;
      } catch (error) {
        restUntil = heads.now() + REPLICA_REST_MS;
        return { ok: true, warning: `the replica is unavailable and the primary is read: ${reasonOf(error)}` };
      }
      const ms = behindSince === undefined ? 0 : heads.now() - behindSince;
      if (ms < STALLED_MS) return { ok: true };
      return { ok: true, warning: `the replica is ${Math.round(ms / 1000)} s behind and the primary is read` };
    },
  };
}

/** @throws {Error} when it takes longer; the work itself ends with the time-out of its statement */
async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the replica did not answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
