import { transaction } from '../../../database/transaction.ts';
import { type Change, type PubliceerRegel, prepareChange, resourceOf } from '../../domain/change.ts';
import { BATCH_CHANGES } from '../../writer/publisher.ts';
import type { Dependencies } from '../dependencies.ts';
import { publishChanges } from '../feed/redactions.ts';
import type { Lease } from '../source.ts';
import { updateSource } from '../store/leased-source.ts';
import {
  countResources,
  deleteItems,
  readCurrentDocuments,
  readItemsIn,
  readMeetingsOf,
  readPartsElsewhere,
  saveItems,
} from '../store/source-items.ts';
import { type PublishableReading, partKey, type SourceIssue } from './source-adapter.ts';
import { deriveChanges } from './window-changes.ts';

export interface PublishedReading {
  /** Deletes included, unchanged records not. */
  readonly published: number;
  readonly deleted: number;
  readonly withheld: number;
  /** Records that the contract does not allow. */
  readonly issues: readonly SourceIssue[];
}

type PublishNeeds = Pick<Dependencies, 'pool' | 'clock' | 'proof' | 'validate'>;

export interface PublishReadingOptions {
  readonly organisatiecode: string;
  /** In this round: a tenth is the limit for all windows together. */
  readonly deletedBefore: number;
  readonly allowMassDelete: boolean;
}

/** Publishes the changes and stores the items of a reading, in one transaction. @throws {LeaseLostError} */
export async function publishReading(
  lease: Lease,
  reading: PublishableReading,
  { organisatiecode, deletedBefore, allowMassDelete }: PublishReadingOptions,
  deps: PublishNeeds,
): Promise<PublishedReading> {
  const { id } = lease.source;
  const { pool } = deps;
  const keys = reading.items.map(({ key }) => key);
  const known = await readItemsIn(pool, id, reading.window, keys);
  const parts = [...reading.items, ...known].flatMap((item) => item.parts);
  const wanted = [...parts, ...reading.hidden];
  const elsewhere = await readPartsElsewhere(pool, id, wanted, [...keys, ...known.map(({ key }) => key)]);
  const documents = wanted.filter(({ resourceType }) => resourceType === 'Informatieobject');
  const ids = new Set(documents.map(({ bronidentificatie }) => bronidentificatie));
  const mentioned = new Set([...parts, ...elsewhere].flatMap(({ agendapunten = [] }) => agendapunten));
  const derived = deriveChanges(reading, {
    organisatiecode,
    known,
    deletedBefore,
    allowMassDelete,
    elsewhere: Map.groupBy(elsewhere, partKey),
    documents: await readCurrentDocuments(pool, organisatiecode, [...ids]),
    agendapunten: await readMeetingsOf(pool, id, [...mentioned]),
    total: await countResources(pool, organisatiecode),
  });
  const issues: SourceIssue[] = [];
  const changes = prepare([...derived.upserts, ...derived.deletes], deps, issues);
  const published = await transaction(pool, async (client) => {
    let recorded = 0;
    for (let from = 0; from < changes.length; from += BATCH_CHANGES) {
      recorded += await publishChanges(client, changes.slice(from, from + BATCH_CHANGES), deps);
    }
    await saveItems(client, id, derived.items);
    await deleteItems(client, id, derived.obsolete);
    // Last: it also checks the lease.
    await updateSource(client, lease, {}, { published: recorded });
    return recorded;
  });
  return { published, deleted: derived.deletes.length, withheld: derived.withheld.length, issues };
}

function prepare(lines: readonly PubliceerRegel[], { validate }: PublishNeeds, issues: SourceIssue[]): Change[] {
  return lines.flatMap((line) => {
    const checked = validate(line);
    if ('line' in checked) return [prepareChange(checked.line)];
    const where = `${line.resourceType}/${resourceOf(line).bronidentificatie}`;
    issues.push({ what: 'invalid-record', where, detail: checked.faults.join('; '), times: 1, blocking: true });
    return [];
  });
}
