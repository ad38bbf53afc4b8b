import type pg from 'pg';
import type { Db } from '../database/transaction.ts';
import type { ReadinessCheck } from '../lib/operations.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { OwnEntry, ProcessingAuthor, ProcessingLog } from '../plugins/processing-log.ts';
import type { IdentityKeys } from './domain/encryption.ts';
import type { Actie, Auteur, Versie } from './domain/verwerkingsactie.ts';
import type { Appended, LatestMoment, NewVersion, VersionStore } from './store/append.ts';
import type { KeyWatch } from './store/keys.ts';

/** An action about more persons is stored or changed one at a time. */
export const LARGE_OBJECTS = 1000;

export interface ActieLog extends ProcessingLog {
  readonly keys: IdentityKeys;
  readonly keyWatch: KeyWatch;
  readonly latestMoment: LatestMoment;
  readonly store: VersionStore;
  /** Whether new versions are queued for another logbook. */
  readonly forwards: boolean;
  readonly append: Appender['append'];
  count(result: Appended): void;
  /** An entry of the service itself, to be added in a transaction. */
  makeOwn(entry: OwnEntry, author: ProcessingAuthor): Promise<NewVersion>;
  /** @throws {DatabaseError} also when its month has no partition yet: see `withMonths` */
  appendOwn(db: Db, own: NewVersion): Promise<void>;
  readonly changes: SerialChanges;
  readonly checks: readonly ReadinessCheck[];
  close(): Promise<void>;
}

export interface AppendOptions {
  readonly idempotencyKey?: string | undefined;
  readonly trace?: () => TraceContext;
}

export interface Appender {
  /**
   * Resolves when the action is committed to disk, with its first version; with an idempotency key of the last 24 hours, with the
   * version that was stored under it.
   * @throws {Problem} 409, 503
   */
  append(actie: Actie, auteur: Auteur, options?: AppendOptions): Promise<Versie>;
  /** Resolves when no work is running. */
  idle(): Promise<void>;
}

/** The client of a change, and its targets. */
export interface Change {
  /** Names of locks, as `store/changes.ts` makes them. */
  readonly names: readonly string[];
  readonly client: string;
  /** Fires when the client disconnects: its change stops waiting. */
  readonly signal: AbortSignal;
  /** The action has very many persons; the process handles one such action at a time. */
  readonly isLarge?: boolean;
}

export interface SerialChanges {
  /**
   * Runs `work` in a transaction, during which no other change, on any instance, touches the named actions or processings. One client's changes use
   * at most three quarters of the connections at a time.
   * @throws {Problem} 503 when too many wait for the same lock, or one waits too long; and errors of `work`
   */
  run<T>(change: Change, work: (db: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Reads data that a change needs beforehand, within the same share of the client. */
  read<T>(change: Pick<Change, 'client' | 'signal'>, work: (db: Db) => Promise<T>): Promise<T>;
}
