/**
 * Keeps the index of what is offered up with the feed. Each step is one transaction: the changes, and how far the index has come. The
 * records after the position come first, because a redaction must reach the index at once; the current state of a feed that is new to the
 * index is taken in between them. Documents keep their places throughout.
 */
import type { Pool } from '../../kernel/database/pool.ts';
import { type Db, transaction } from '../../kernel/database/transaction.ts';
import { isRecord } from '../../kernel/json-value.ts';
import { joinRecord } from '../domain/record-text.ts';
import { readFeedHead } from '../store/feed-row.ts';
import { readRange } from '../store/read-log.ts';
import { readSnapshot } from '../store/read-texts.ts';
import { toItemState, toOffer } from './offer.ts';
import { dropStrays, type IndexChange, writeIndex } from './write-index.ts';

/** Records of one step: small, so that no step holds its rows for long. */
const STEP_RECORDS = 1000;

interface Position {
  readonly feedId: string;
  readonly nummer: number;
  readonly scanNa: number;
  readonly scanTot: number;
}

const POSITION = `select feed_id as "feedId", nummer, scan_na as "scanNa", scan_tot as "scanTot" from raadsfeed_diwoo.positie`;

/** Whether all of the current state was taken in: before that, what is offered says too little. */
export async function isComplete(db: Db): Promise<boolean> {
  const { rows } = await db.query<Position>({ name: 'raadsfeed-diwoo-stand', text: POSITION });
  return rows.every(({ feedId, scanNa, scanTot }) => feedId !== '' && scanNa >= scanTot);
}

/**
 * Takes the next records in.
 * @returns what there was to do: `busy` when another process does it
 */
export async function followStep(pool: Pool): Promise<'changed' | 'done' | 'busy'> {
  return await transaction(pool, async (db) => {
    const { rows } = await db.query<Position>({
      name: 'raadsfeed-diwoo-slot',
      text: `${POSITION} for update skip locked`,
    });
    const [found] = rows;
    if (found === undefined) return 'busy';
    const head = await readFeedHead(db);
    const top = head.head.sequenceNumber;
    // Another feed, a restored backup, or history that was pruned before it was read: from the current state.
    if (found.feedId !== head.feedId || found.nummer > top || found.nummer < head.historyAfter.sequenceNumber) {
      await dropStrays(db);
      await move(db, { feedId: head.feedId, nummer: top, scanNa: 0, scanTot: top });
      return 'changed';
    }
    if (found.nummer < top) {
      const { records } = await readRange(db, found.nummer, STEP_RECORDS, '');
      await writeIndex(db, records.flatMap(toChange));
      await move(db, { ...found, nummer: found.nummer + records.length });
      return 'changed';
    }
    if (found.scanNa < found.scanTot) {
      const { records, isAll } = await readSnapshot(db, found.scanNa, found.scanTot, STEP_RECORDS, {});
      const last = records.at(-1)?.sequenceNumber ?? found.scanTot;
      await writeIndex(
        db,
        records.flatMap((record) => toChange(joinRecord(record, ''))),
      );
      await move(db, { ...found, scanNa: isAll ? found.scanTot : last });
      return 'changed';
    }
    return 'done';
  });
}

async function move(db: Db, { feedId, nummer, scanNa, scanTot }: Position): Promise<void> {
  await db.query({
    name: 'raadsfeed-diwoo-verder',
    text: `update raadsfeed_diwoo.positie set feed_id = $1::text, nummer = $2::bigint, scan_na = $3::bigint, scan_tot = $4::bigint`,
    values: [feedId, nummer, scanNa, scanTot],
  });
}

/** @param text a record as the feed has it */
function toChange(text: string): IndexChange[] {
  const record: unknown = JSON.parse(text);
  if (!isRecord(record) || !isRecord(record.resource)) throw new Error('a record of the feed cannot be read');
  const { resourceType, data } = record;
  const resource = {
    organisatiecode: String(record.resource.organisatiecode),
    bronidentificatie: String(record.resource.bronidentificatie),
  };
  const base = {
    ...{ resource, sequenceNumber: Number(record.sequenceNumber) },
    storedAt: new Date(String(record.storedAt)),
  };
  const present = record.op === 'upsert' && isRecord(data) ? data : undefined;
  if (resourceType === 'Informatieobject') {
    return [{ ...base, resourceType, offer: present && toOffer(resource.organisatiecode, present) }];
  }
  if (resourceType === 'Agendapunt') return [{ ...base, resourceType, item: present && toItemState(present) }];
  return [];
}
