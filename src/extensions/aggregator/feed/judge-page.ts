import { setImmediate as pause } from 'node:timers/promises';
import type { FeedRecord } from '../../../lib/feed-client/page.ts';
import { reasonOf } from '../../../lib/log.ts';
import type { Change } from '../../../raadsfeed/domain/change.ts';
import { isResourceType, resourceKey } from '../../../raadsfeed/domain/resource.ts';
import type { SeenResource, TakenRecord } from '../store/comparison.ts';
import type { SourceIssue } from '../supplier/source-adapter.ts';
import { type CheckedRecord, cameFrom, checkRecord, keyOf, type RecordContext, resourceOf } from './judge-record.ts';
import { type RedactionContext, redactionChanges } from './redactions.ts';

/** The changes that follow from the records of a page. */
export interface CheckedPage {
  readonly changes: readonly Change[];
  readonly refused: number;
  /** `organisatiecode/resourceType/bronidentificatie` of refused records of organisations of this source; empty where a record does not say. */
  readonly refusedKeys: readonly string[];
  readonly issues: readonly SourceIssue[];
  /** Resources that the source has, also those whose record is refused: they are not missing. */
  readonly present: readonly SeenResource[];
  /** A hash of this source was the one that we would make, here or before. */
  readonly hashMatches: boolean;
}

/** Refused records of one page that are reported one by one. */
const MAX_DETAILED = 20;

/**
 * Records that are checked before the event loop is yielded: a publisher holds the lock of the feed, and each of its statements would
 * wait for a whole page.
 */
const BATCH = 50;

export interface PageContext extends RecordContext, RedactionContext {
  readonly hashMatches: boolean;
  /** The records that were taken from the numbers in redactions without a resource. */
  readonly taken: ReadonlyMap<number, TakenRecord>;
}

export async function checkPage(records: readonly FeedRecord[], context: PageContext): Promise<CheckedPage> {
  const results: (FeedRecord & { readonly checked: CheckedRecord | readonly Change[] })[] = [];
  for (const [i, { sequenceNumber, record }] of records.entries()) {
    if (i > 0 && i % BATCH === 0) await pause();
    results.push({ sequenceNumber, record, checked: checkOne(record, sequenceNumber, context) });
  }
  const hashMatches =
    context.hashMatches ||
    results.some(({ checked }) => 'kind' in checked && 'hash' in checked && checked.hash === 'matches');
  const changes: Change[] = [];
  const present: SeenResource[] = [];
  const refusedKeys = new Set<string>();
  const issues: SourceIssue[] = [];
  const hashes = new Set<string>();
  let refused = 0;
  for (const { sequenceNumber, record, checked } of results) {
    if (!('kind' in checked)) {
      changes.push(...checked);
      for (const change of checked) refusedKeys.delete(resourceKey(change.resourceType, change.resource));
      continue;
    }
    const verdict = checked.kind === 'change' && checked.hash === 'differs' && hashMatches ? WRONG_HASH : checked;
    if (verdict.kind === 'change') {
      changes.push(verdict.change);
      refusedKeys.delete(resourceKey(verdict.change.resourceType, verdict.change.resource));
      if (verdict.change.op === 'upsert') present.push({ ...verdict.change, number: sequenceNumber });
      if (verdict.hash === 'differs' || verdict.hash === 'absent') hashes.add(verdict.hash);
    } else if (verdict.kind === 'refused') {
      refused += 1;
      const resource = resourceOf(record);
      const isTaken = resource === undefined || context.takes(resource.organisatiecode) === 'yes';
      if (isTaken) refusedKeys.add(keyOf(record));
      if (isTaken && resource !== undefined && isResourceType(record.resourceType)) {
        present.push({ resourceType: record.resourceType, resource, number: sequenceNumber });
      }
      issues.push(refusal(verdict.faults, refused, sequenceNumber, { isTaken, feedUrl: context.feedUrl }));
    }
  }
  for (const hash of hashes) {
    const detail =
      hash === 'absent'
        ? 'records have no contentHash: ours is given'
        : 'hashes are of another form than ours: they are passed on';
    issues.push({ what: 'content-hash', where: context.feedUrl, detail, times: 1, blocking: false });
  }
  return { changes, refused, refusedKeys: [...refusedKeys], issues, present, hashMatches };
}

/** A record that cannot be checked is refused alone: it holds up neither the page nor the redactions on it. */
function checkOne(
  record: FeedRecord['record'],
  sequenceNumber: number,
  context: PageContext,
): CheckedRecord | readonly Change[] {
  if (record.op === 'redact') return checkRedaction(record, context);
  try {
    return checkRecord(record, sequenceNumber, context);
  } catch (error) {
    return { kind: 'refused', faults: [`it cannot be judged: ${reasonOf(error)}`] };
  }
}

/** A redaction needs no valid content: it is refused only when it reaches nothing. */
function checkRedaction(record: FeedRecord['record'], context: PageContext): CheckedRecord | readonly Change[] {
  const changes = redactionChanges(record, context.taken, context);
  if (changes.length > 0) return changes;
  if (cameFrom(record, context.ownFeedUrl)) return { kind: 'passed-over', why: 'loop' };
  const resource = resourceOf(record);
  if (resource !== undefined && context.takes(resource.organisatiecode) === 'elsewhere') {
    return { kind: 'passed-over', why: 'organisation' };
  }
  return { kind: 'refused', faults: ['a redaction of nothing that was taken from this source'] };
}

const WRONG_HASH: CheckedRecord = { kind: 'refused', faults: ['contentHash does not match data'] };

function refusal(
  faults: readonly string[],
  count: number,
  sequenceNumber: number,
  { isTaken, feedUrl }: { readonly isTaken: boolean; readonly feedUrl: string },
): SourceIssue {
  const where = count <= MAX_DETAILED ? `${feedUrl}#${sequenceNumber}` : feedUrl;
  const detail = count <= MAX_DETAILED ? faults.join('; ') : 'more records of one page were refused';
  return { what: isTaken ? 'record-refused' : 'organisation-unnamed', where, detail, times: 1, blocking: false };
}
