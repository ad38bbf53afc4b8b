/** Checks the promises of the log on what is stored. It reads only, beside a running service. */

import type { Db } from '../../kernel/database/transaction.ts';
import type { Clock } from '../../kernel/time.ts';
import { readFeedRow } from '../store/feed-row.ts';
import {
  endOfRead,
  hasRedactionSince,
  readChangedSince,
  readForVerify,
  readLeftovers,
} from '../store/read-for-verify.ts';
import { createReplay } from './replay.ts';

/** A promise that is broken. */
export interface VerifyFault {
  /** Absent when it is not about one record. */
  readonly sequenceNumber?: number;
  readonly fault: string;
}

export interface VerifyResult {
  readonly head: number;
  /** The history begins after this number. */
  readonly historyAfter: number;
  readonly records: number;
  readonly resources: number;
  readonly faults: readonly VerifyFault[];
  readonly faultCount: number;
}

export interface VerifyOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly progress: (number: number, head: number) => void;
}

/** Numbers that are read at once; fewer when their records are large. */
const STEP = 1000;
const TOLD_FAULTS = 1000;

/**
 * Goes through the whole log up to where it stands now. Memory: the identity and hash of each resource that is there.
 * @throws the signal's reason
 */
export async function verifyFeed(db: Db, { signal, progress, clock }: VerifyOptions): Promise<VerifyResult> {
  const feed = await readFeedRow(db);
  const faults: VerifyFault[] = [];
  let faultCount = 0;
  const tell = (fault: string, sequenceNumber?: number): void => {
    faultCount += 1;
    if (faults.length < TOLD_FAULTS) faults.push(sequenceNumber === undefined ? { fault } : { sequenceNumber, fault });
  };
  const replay = createReplay(feed, clock.now(), tell);
  const head = feed.head.sequenceNumber;
  let records = 0;
  for (let after = 0; after < head; ) {
    signal.throwIfAborted();
    const end = await endOfRead(db, after, Math.min(after + STEP, head));
    const rows = await readForVerify(db, after, end);
    for (const row of rows) replay.add(row);
    records += rows.length;
    progress(end, head);
    after = end;
  }
  const { beyondHead, unwritten } = await readLeftovers(db, (await readFeedRow(db)).head.sequenceNumber);
  if (beyondHead > 0) tell(`${beyondHead} rows stand beyond the head`);
  if (unwritten > 0) tell(`${unwritten} parts may still hold what was removed; run feed redact or restart the service`);
  const { resources, suspects, unnamed } = replay.finish();
  // A redaction that came while this ran stands behind the head that was looked up to.
  if (unnamed.length > 0 && !(await hasRedactionSince(db, head))) {
    for (const number of unnamed) tell('holds no content any more, and no redaction names it', number);
  }
  // What was published while this ran has taken the place of some: those are right.
  const changed = await readChangedSince(
    db,
    suspects.map(({ key }) => key),
    head,
  );
  for (const { key, sequenceNumber } of suspects) {
    if (!changed.has(key)) tell('is the last of its resource, but not in the current state', sequenceNumber);
  }
  return { head, historyAfter: feed.historyAfter.sequenceNumber, records, resources, faults, faultCount };
}
