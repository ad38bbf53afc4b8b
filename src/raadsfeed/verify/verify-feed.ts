/** Checks the promises of the log against the stored data. Read-only, beside a running service. */

import type { Db } from '../../database/transaction.ts';
import { contentHash, redactedNumbers } from '../../lib/feed/record.ts';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import type { Clock } from '../../lib/time.ts';
import { type FeedRow, readFeedRow } from '../store/records.ts';
import { endOfRead, readLeftovers, readNumbers, readRecordedSince, type StoredNumber } from '../store/verify.ts';

interface VerifyOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly progress: (number: number, head: number) => void;
}

const STEP = 1000;
const LISTED_FAULTS = 1000;

/** Checks the whole log up to its present head. Memory: the identity and hash of each current resource. @throws the signal's reason */
export async function verifyFeed(db: Db, { signal, progress, clock }: VerifyOptions) {
  const feed = await readFeedRow(db);
  const faults: { readonly sequenceNumber?: number; readonly fault: string }[] = [];
  let faultCount = 0;
  const report = (fault: string, sequenceNumber?: number): void => {
    faultCount += 1;
    if (faults.length < LISTED_FAULTS)
      faults.push(sequenceNumber === undefined ? { fault } : { sequenceNumber, fault });
  };
  const replay = createReplay(feed, clock.now(), report);
  const head = feed.head.sequenceNumber;
  let records = 0;
  for (let after = 0; after < head; ) {
    signal.throwIfAborted();
    const end = await endOfRead(db, after, Math.min(after + STEP, head));
    const rows = await readNumbers(db, after, end);
    for (const row of rows) replay.add(row);
    records += rows.length;
    progress(end, head);
    after = end;
  }
  const { beyondHead, unwritten } = await readLeftovers(db, (await readFeedRow(db)).head.sequenceNumber);
  if (beyondHead > 0) report(`${beyondHead} rows are beyond the head`);
  if (unwritten > 0)
    report(`${unwritten} partitions may still hold what was removed; run feed redact or restart the service`);
  const { resources, suspects, unnamed } = replay.finish();
  // Records that were published meanwhile are beyond that head.
  const later = await readRecordedSince(db, head);
  for (const number of later.isRedacted ? [] : unnamed)
    report('holds no content any more, and no redaction names it', number);
  for (const { key, sequenceNumber } of suspects) {
    if (!later.keys.has(key)) report('is the last of its resource, but not in the current state', sequenceNumber);
  }
  const historyAfter = feed.historyAfter.sequenceNumber;
  return { head, historyAfter, records, resources, faults, faultCount };
}

/** Replays the log record by record, and compares the result with the stored current state. */
function createReplay(feed: FeedRow, now: Date, report: (fault: string, sequenceNumber?: number) => void) {
  const start = feed.historyAfter.sequenceNumber;
  const head = feed.head.sequenceNumber;
  const present = new Map<string, { hash: string | undefined; sequenceNumber: number; isState: boolean }>();
  /** Numbers whose content is gone; those of `unnamed` until the redaction that names them is read. */
  const redactedNumbers = new Set<number>();
  const unnamed = new Set<number>();
  /** The last number that holds content of a resource, current or not. */
  const held = new Map<string, number>();
  /** Resources whose redacted records may have been current: what a later deletion deleted is no longer visible. */
  const veiled = new Set<string>();
  const times = createMeetingTimes(now);
  let expected = start + 1;
  let lastStoredAt = 0;

  const play = (checked: CheckedRecord, row: StoredNumber): void => {
    const { sequenceNumber, op, key, contentHash, redacted } = checked;
    const inHistory = sequenceNumber > start;
    if (op === 'redact' && redacted.length === 1 && redacted[0] === sequenceNumber) {
      redactedNumbers.add(sequenceNumber);
      unnamed.add(sequenceNumber);
      veiled.add(key);
      present.delete(key);
      times.forget(key);
    } else if (op === 'upsert') {
      times.note(checked);
      if (inHistory && present.get(key)?.hash === contentHash)
        report('changes nothing, and yet is recorded', sequenceNumber);
      present.set(key, { hash: contentHash, sequenceNumber, isState: row.stateIdentity === key });
      if (row.stateIdentity === key && row.stateHash !== contentHash)
        report('the state has another hash', sequenceNumber);
      held.set(key, sequenceNumber);
    } else {
      // Pruned records cannot be checked.
      if (op === 'delete' && start === 0 && !present.has(key) && !veiled.has(key))
        report('deletes what was not there', sequenceNumber);
      if (op === 'redact' && held.has(key))
        report(`number ${held.get(key)} still holds content of what was redacted`, sequenceNumber);
      present.delete(key);
      veiled.delete(key);
      if (op === 'redact') held.delete(key);
      times.forget(key);
      if (op === 'redact' && redacted.length === 0) report('a redaction that names no number', sequenceNumber);
      for (const number of redacted) {
        unnamed.delete(number);
        if (number >= sequenceNumber) report('a redaction that names a later number', sequenceNumber);
        else if (number > start && !redactedNumbers.has(number))
          report(`number ${number} still holds redacted content`, sequenceNumber);
      }
    }
  };

  return {
    add(row: StoredNumber): void {
      const { sequenceNumber, storedAt } = row;
      if (sequenceNumber > start) {
        if (sequenceNumber !== expected) report(`the numbers ${expected} to ${sequenceNumber - 1} are missing`);
        expected = sequenceNumber + 1;
      } else if (row.stateIdentity === null && row.op !== null) {
        // Left behind by a prune that was interrupted: no reader can reach it.
        return;
      }
      if (storedAt !== null) {
        if (storedAt.getTime() < lastStoredAt) report('was stored before the one in front of it', sequenceNumber);
        lastStoredAt = Math.max(lastStoredAt, storedAt.getTime());
      }
      const checked = checkRecord(row, (fault) => report(fault, sequenceNumber));
      if (checked !== undefined) play(checked, row);
      if (row.stateIdentity !== null && checked?.key !== row.stateIdentity)
        report('the state names another resource here', sequenceNumber);
      if (row.stateIdentity !== null && checked?.op !== 'upsert')
        report('the state names a record that is not an upsert', sequenceNumber);
    },
    finish() {
      if (expected <= head) report(`the numbers ${expected} to ${head} are missing`);
      for (const number of times.broken())
        report('has `starttijd` and no `eindtijd`, though its meeting has ended', number);
      const suspects = [...present].flatMap(([key, { isState, sequenceNumber }]) =>
        isState ? [] : [{ key, sequenceNumber }],
      );
      return { resources: present.size, suspects, unnamed: [...unnamed] };
    },
  };
}

type CheckedRecord = NonNullable<ReturnType<typeof checkRecord>>;

/** Checks one record alone: both tables have it and agree, the hash matches the data, a redacted record has no content. */
function checkRecord(row: StoredNumber, fault: (text: string) => void) {
  const { sequenceNumber, prefix, suffix, op, resourceType, organisatiecode, bronidentificatie, storedAt } = row;
  if (prefix === null || op === null || organisatiecode === null) {
    fault(prefix === null ? 'has no text' : 'is not in the index of records');
    return undefined;
  }
  const record = parse(prefix + (suffix ?? ''));
  if (record === undefined) {
    fault('its text is not JSON');
    return undefined;
  }
  const { resource, data } = record;
  const said = { ...record, ...(isRecord(resource) ? resource : {}) };
  const stored = { sequenceNumber, op, resourceType, organisatiecode, bronidentificatie };
  for (const [name, value] of Object.entries({ ...stored, storedAt: storedAt?.toISOString() })) {
    if (said[name] !== value) fault(`its text says another ${name} than the index`);
  }
  const content = op === 'upsert' && isRecord(data) ? data : undefined;
  const hash = content && contentHash(content);
  if (op === 'upsert' && hash === undefined) fault('has no data');
  // An aggregator passes on the hash of the source.
  if (hash !== record.contentHash && record.herkomst === undefined) fault('its contentHash is not that of its data');
  if (op !== 'upsert' && (suffix !== null || data !== undefined)) fault('holds content');
  return {
    ...{ sequenceNumber, op, organisatiecode, contentHash: hash, data: content },
    /** `organisatiecode/resourceType/bronidentificatie`. */
    key: `${organisatiecode}/${resourceType}/${bronidentificatie}`,
    redacted: redactedNumbers(record),
  };
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The one rule about two resources: once its meeting has ended, an agenda item with a start also has an end. The two arrive in any order
 * and in different batches, so only the current state can be checked.
 * @param now a meeting whose `einde` is later has not ended
 */
function createMeetingTimes(now: Date) {
  const ended = new Set<string>();
  const open = new Map<string, { sequenceNumber: number; meeting: string }>();
  const forget = (key: string): void => {
    ended.delete(key);
    open.delete(key);
  };
  return {
    forget,
    note({ key, sequenceNumber, organisatiecode, data = {} }: CheckedRecord): void {
      forget(key);
      const { dossiertype, einde, starttijd, eindtijd, vergadering } = data;
      if (dossiertype === 'vergadering' && Date.parse(String(einde)) <= now.getTime()) ended.add(key);
      if (dossiertype === 'agendapunt' && starttijd !== undefined && eindtijd === undefined && isRecord(vergadering)) {
        const of = vergadering.organisatiecode ?? organisatiecode;
        open.set(key, { sequenceNumber, meeting: `${of}/Vergadering/${vergadering.bronidentificatie}` });
      }
    },
    /** Numbers of the agenda items that break the rule. */
    broken: (): number[] =>
      [...open.values()].flatMap(({ sequenceNumber, meeting }) => (ended.has(meeting) ? [sequenceNumber] : [])),
  };
}
