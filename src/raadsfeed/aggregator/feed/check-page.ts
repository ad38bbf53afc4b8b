import { setImmediate as pause } from 'node:timers/promises';
import { isRecord } from '../../../kernel/outbound/is-record.ts';
import type { Change } from '../../domain/change.ts';
import { normaliseOrganisatiecode } from '../../domain/resource.ts';
import { isResourceType } from '../../domain/resource-type.ts';
import type { SourceIssue } from '../source-adapter.ts';
import { checkRecord, type RecordContext } from './checked-record.ts';
import type { NumberedSourceRecord } from './feed-answer.ts';

/** What the records of a page come to. */
export interface CheckedPage {
  readonly changes: readonly Change[];
  readonly refused: number;
  readonly issues: readonly SourceIssue[];
  /** Resources that the source has, also those whose record is refused: they are not gone. */
  readonly present: readonly Pick<Change, 'resourceType' | 'resource'>[];
}

/** Refused records of one page that are told one by one. */
const TOLD = 20;

/**
 * Records that are judged without letting others have their turn: who publishes holds the lock of the feed, and each of its statements
 * would wait for a whole page.
 */
const AT_ONCE = 50;

export async function checkPage(
  records: readonly NumberedSourceRecord[],
  context: RecordContext,
): Promise<CheckedPage> {
  const changes: Change[] = [];
  const issues: SourceIssue[] = [];
  const present: Pick<Change, 'resourceType' | 'resource'>[] = [];
  let refused = 0;
  for (const [i, { sequenceNumber, record }] of records.entries()) {
    if (i > 0 && i % AT_ONCE === 0) await pause();
    const checked = checkRecord(record, sequenceNumber, context);
    if (checked.kind === 'change') {
      changes.push(checked.change);
      if (checked.change.op === 'upsert') present.push(checked.change);
    } else if (checked.kind === 'refused') {
      refused += 1;
      const named = nameOf(record);
      if (named !== undefined) present.push(named);
      const where = refused <= TOLD ? `${context.feedUrl}#${sequenceNumber}` : context.feedUrl;
      const detail = refused <= TOLD ? checked.faults.join('; ') : 'more records of one page were refused';
      issues.push({ what: 'record-refused', where, detail, times: 1, blocking: false });
    }
  }
  return { changes, refused, issues, present };
}

/** Which resource a record is about that was refused, as far as it says. */
function nameOf(record: unknown): Pick<Change, 'resourceType' | 'resource'> | undefined {
  if (!isRecord(record) || !isRecord(record.resource) || !isResourceType(record.resourceType)) return undefined;
  const { organisatiecode, bronidentificatie } = record.resource;
  if (typeof organisatiecode !== 'string' || typeof bronidentificatie !== 'string') return undefined;
  const code = normaliseOrganisatiecode(organisatiecode);
  if (code === undefined || bronidentificatie.includes('\0') || !bronidentificatie.isWellFormed()) return undefined;
  return { resourceType: record.resourceType, resource: { organisatiecode: code, bronidentificatie } };
}
