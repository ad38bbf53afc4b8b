/** The log of processing of personal data. Area A uses this without knowing area B. */

import type { Pool } from '../database/pool.ts';
import type { Db, Sent } from '../database/transaction.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { ProcessingContext, ProcessingEntry } from './processing-headers.ts';

export interface ProcessingAuthor {
  readonly subject: string;
  readonly requestId: string;
  readonly trace: TraceContext;
  readonly fscTransactionId?: string | undefined;
}

/** The ways in which the service itself uses personal data: it delivers it, or reads the log. */
type OwnKind = 'shv' | 'vs' | 'log';

/** An entry of the service itself. The log sets its processing, activity, term and confidentiality: the requester controls none of them. */
export interface OwnEntry
  extends Pick<
    ProcessingEntry,
    'actieNaam' | 'handelingNaam' | 'uitvoerder' | 'systeem' | 'tijdstip' | 'verwerkteObjecten'
  > {
  readonly kind: OwnKind;
  readonly consumer: ProcessingContext;
  readonly confidential: boolean;
}

export interface ProcessingLog {
  /** If it rejects, nothing may be delivered. @param pool opened with `pipeline` @param work its statements, followed at once by entry and commit */
  record<T>(pool: Pool, work: (db: Db) => Promise<Sent<T>>, entry: OwnEntry, author: ProcessingAuthor): Promise<T>;
}
