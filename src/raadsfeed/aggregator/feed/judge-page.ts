import type { FeedRecord } from '../../../lib/feed/read-page.ts';
import { cameFrom, type HashVerdict } from '../../../lib/feed/record.ts';
import { isResourceType, type NamedResource, readResource, resourceKey } from '../../../lib/feed/resource.ts';
import { reasonOf } from '../../../lib/log.ts';
import { mapWithinBudget } from '../../../lib/scheduling.ts';
import type { Change } from '../../domain/change.ts';
import type { TakenRecord } from '../store/comparison.ts';
import type { SourceIssue } from '../supplier/source-adapter.ts';
import { checkRecord, type RecordContext, type Verdict } from './judge-record.ts';
import { redactionChanges } from './redactions.ts';

const MAX_DETAILED = 20;

interface PageContext extends RecordContext {
  readonly hashMatches: boolean;
  /** The records looked up by number for redactions that name no resource. */
  readonly taken: ReadonlyMap<number, TakenRecord>;
}

export async function checkPage(records: readonly FeedRecord[], context: PageContext) {
  const results = await mapWithinBudget(records, (one) => ({ ...one, verdict: checkOne(one, context) }));
  const { feedUrl } = context;
  const ofHash = (hash: HashVerdict): boolean =>
    results.some(({ verdict }) => verdict && 'changes' in verdict && verdict.hash === hash);
  /** Whether a hash of this source has ever equalled ours. */
  const hashMatches = context.hashMatches || ofHash('matches');
  const changes: Change[] = [];
  /** Resources that the source has, including those with a refused record: they are not missing. */
  const present: NamedResource[] = [];
  /** Whether the last record of a resource of this source was refused; by `resourceKey`, empty where a refused record does not say. */
  const refusals = new Map<string, boolean>();
  const issues: SourceIssue[] = [];
  const report = (what: string, where: string, detail: string): void => {
    issues.push({ what, where, detail, times: 1, blocking: false });
  };
  let refused = 0;
  for (const { sequenceNumber, record, verdict } of results) {
    if (verdict === undefined) continue;
    if ('changes' in verdict && !(verdict.hash === 'differs' && hashMatches)) {
      changes.push(...verdict.changes);
      for (const change of verdict.changes) refusals.set(resourceKey(change), false);
      present.push(...verdict.changes.filter(({ op }) => op === 'upsert'));
      continue;
    }
    refused += 1;
    const { resourceType } = record;
    const resource = readResource(record);
    const isTaken = resource === undefined || context.takes(resource.organisatiecode) === 'yes';
    const named = resource !== undefined && isResourceType(resourceType) ? { resourceType, resource } : undefined;
    if (isTaken) {
      refusals.set(named === undefined ? '' : resourceKey(named), true);
      if (named !== undefined) present.push(named);
    }
    const what = isTaken ? 'record-refused' : 'organisation-unnamed';
    const faults = 'faults' in verdict ? verdict.faults : ['contentHash does not match data'];
    if (refused <= MAX_DETAILED) report(what, `${feedUrl}#${sequenceNumber}`, faults.join('; '));
    else report(what, feedUrl, 'more records of one page were refused');
  }
  if (!hashMatches && ofHash('differs')) {
    report('content-hash', feedUrl, 'hashes are of another form than ours: they are passed on');
  }
  if (ofHash('absent')) report('content-hash', feedUrl, 'records have no contentHash: ours is given');
  return { changes, refused, refusals, issues, present, hashMatches };
}

function checkOne({ record, sequenceNumber }: FeedRecord, context: PageContext): Verdict {
  if (record.op === 'redact') return checkRedaction(record, context);
  try {
    return checkRecord(record, sequenceNumber, context);
  } catch (error) {
    return { faults: [`it cannot be judged: ${reasonOf(error)}`] };
  }
}

/** A redaction needs no valid content: it is refused only when it affects nothing. */
function checkRedaction(record: FeedRecord['record'], context: PageContext): Verdict {
  const changes = redactionChanges(record, context.taken, context);
  if (changes.length > 0) return { changes };
  const resource = readResource(record);
  const isElsewhere = resource !== undefined && context.takes(resource.organisatiecode) === 'elsewhere';
  if (isElsewhere || cameFrom(record, context.ownFeedUrl)) return undefined;
  return { faults: ['a redaction of nothing that was taken from this source'] };
}
