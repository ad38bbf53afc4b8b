/** Where processing of personal data is logged. Area A uses this without knowing area B. */

import type { Pool } from '../database/pool.ts';
import type { Db } from '../database/transaction.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { ProcessingContext, ProcessingEntry } from './processing-headers.ts';

/** Who made the entry, and in which call: kept with it. */
export interface ProcessingAuthor {
  readonly subject: string;
  readonly requestId: string;
  readonly trace: TraceContext;
  readonly fscTransactionId?: string | undefined;
}

/** What the service itself does with personal data: it delivers it, or reads the log. */
type OwnKind = 'shv' | 'vs' | 'log';

/**
 * An entry of the service itself. The requester of personal data does not decide what is logged about it: the log sets the processing,
 * activity and retention term of these entries, and how confidential they are.
 */
export interface OwnEntry
  extends Pick<
    ProcessingEntry,
    'actieNaam' | 'handelingNaam' | 'uitvoerder' | 'systeem' | 'tijdstip' | 'verwerkteObjecten'
  > {
  readonly kind: OwnKind;
  /** Who asked, and for which processing. */
  readonly consumer: ProcessingContext;
  /** Whether what was asked for is confidential. */
  readonly confidential: boolean;
}

export interface ProcessingLog {
  /**
   * Runs work in a transaction and adds an entry about it there. Resolves when both are committed to disk; rejects when neither is, and then
   * nothing may be delivered.
   * @param pool opened with `pipeline`
   * @param work resolves when all its statements have been sent: entry and commit follow at once
   */
  record<T>(
    pool: Pool,
    work: (db: Db) => Promise<{ readonly result: Promise<T> }>,
    entry: OwnEntry,
    author: ProcessingAuthor,
  ): Promise<T>;
}
