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

type Report = (fault: string, sequenceNumber?: number) => void;

const STEP = 1000;
const LISTED_FAULTS = 1000;

/** Checks the whole log up to its present head. Memory: the identity and hash of each current resource. @throws the signal's reason */
export async function verifyFeed(db: Db, { signal, progress, clock }: VerifyOptions) {
  const feed = await readFeedRow(db);
  const faults: { readonly sequenceNumber?: number; readonly fault: string }[] = [];
  let faultCount = 0;
  const report: Report = (fault, sequenceNumber) => {
    faultCount += 1;
    if (faults.length < LISTED_FAULTS) faults.push({ ...(sequenceNumber !== undefined && { sequenceNumber }), fault });
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

function createReplay(feed: FeedRow, now: Date, report: Report) {
  const start = feed.historyAfter.sequenceNumber;
  const head = feed.head.sequenceNumber;
  const present = new Map<string, { hash: string | undefined; sequenceNumber: number; isState: boolean }>();
  /** Numbers whose content is gone; those of `unnamed` until the redaction that names them is read. */
  const stubs = new Set<number>();
  const unnamed = new Set<number>();
  const held = new Map<string, number>();
  /** Resources whose redacted records may have been current: what a later deletion deleted is no longer visible. */
  const veiled = new Set<string>();
  const times = createMeetingTimes(now);
  let expected = start + 1;
  let lastStoredAt = 0;

  const play = (
    { sequenceNumber, op, key, data, hash, redacted, organisatiecode }: CheckedRecord,
    isState: boolean,
  ) => {
    times.forget(key);
    if (op === 'redact' && redacted.length === 1 && redacted[0] === sequenceNumber) {
      stubs.add(sequenceNumber);
      unnamed.add(sequenceNumber);
      veiled.add(key);
      present.delete(key);
      return;
    }
    if (op === 'upsert') {
      if (data !== undefined) times.note(key, sequenceNumber, organisatiecode, data);
      if (sequenceNumber > start && present.get(key)?.hash === hash)
        report('changes nothing, and yet is recorded', sequenceNumber);
      present.set(key, { hash, sequenceNumber, isState });
      held.set(key, sequenceNumber);
      return;
    }
    // Pruned records cannot be checked.
    if (op === 'delete' && start === 0 && !present.has(key) && !veiled.has(key))
      report('deletes what was not there', sequenceNumber);
    present.delete(key);
    veiled.delete(key);
    if (op === 'redact') {
      if (held.has(key)) report(`number ${held.get(key)} still holds content of what was redacted`, sequenceNumber);
      held.delete(key);
      if (redacted.length === 0) report('a redaction that names no number', sequenceNumber);
    }
    for (const number of redacted) {
      unnamed.delete(number);
      if (number >= sequenceNumber) report('a redaction that names a later number', sequenceNumber);
      else if (number > start && !stubs.has(number))
        report(`number ${number} still holds redacted content`, sequenceNumber);
    }
  };

  return {
    add(row: StoredNumber): void {
      const { sequenceNumber, storedAt, stateIdentity, stateHash } = row;
      if (sequenceNumber > start) {
        if (sequenceNumber !== expected) report(`the numbers ${expected} to ${sequenceNumber - 1} are missing`);
        expected = sequenceNumber + 1;
      } else if (stateIdentity === null && row.op !== null) {
        // Left behind by a prune that was interrupted: no reader can reach it.
        return;
      }
      if (storedAt !== null) {
        if (storedAt.getTime() < lastStoredAt) report('was stored before the one in front of it', sequenceNumber);
        lastStoredAt = Math.max(lastStoredAt, storedAt.getTime());
      }
      const checked = checkRecord(row, (fault) => report(fault, sequenceNumber));
      if (checked !== undefined) play(checked, checked.key === stateIdentity);
      if (stateIdentity === null) return;
      if (checked?.op !== 'upsert') report('the state names a record that is not an upsert', sequenceNumber);
      if (checked?.key !== stateIdentity) report('the state names another resource here', sequenceNumber);
      else if (checked.op === 'upsert' && stateHash !== checked.hash)
        report('the state has another hash', sequenceNumber);
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
  const key = `${organisatiecode}/${resourceType}/${bronidentificatie}`;
  return { sequenceNumber, op, organisatiecode, key, hash, data: content, redacted: redactedNumbers(record) };
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
 */
function createMeetingTimes(now: Date) {
  const ended = new Set<string>();
  const open = new Map<string, { sequenceNumber: number; meeting: string }>();
  return {
    forget(key: string): void {
      ended.delete(key);
      open.delete(key);
    },
    note(key: string, sequenceNumber: number, organisatiecode: string, data: JsonObject): void {
      const { dossiertype, einde, starttijd, eindtijd, vergadering } = data;
      if (dossiertype === 'vergadering' && Date.parse(String(einde)) <= now.getTime()) ended.add(key);
      if (dossiertype === 'agendapunt' && starttijd !== undefined && eindtijd === undefined && isRecord(vergadering)) {
        const of = vergadering.organisatiecode ?? organisatiecode;
        open.set(key, { sequenceNumber, meeting: `${of}/Vergadering/${vergadering.bronidentificatie}` });
      }
    },
    broken: (): number[] =>
      [...open.values()].flatMap(({ sequenceNumber, meeting }) => (ended.has(meeting) ? [sequenceNumber] : [])),
  };
}
