import type { Db } from '../../kernel/database/db.ts';
import type { FeedState } from '../feed-state.ts';
import { readEvents } from '../store/read-events.ts';
import { readFiltered, type StoredRecord } from '../store/read-records.ts';
import type { Hub, LiveStream } from './hub.ts';
import { eventText } from './stream-event.ts';

/** Records that catching up reads at once. */
const PAGE = 200;
/** Characters that are sent at once, or one record when that is larger. */
const PIECE = 64 * 1024;

export interface FollowOptions {
  readonly db: Db;
  readonly state: FeedState;
  readonly hub: Hub;
  readonly mountUrl: () => string;
  /** Resolves when the client has taken what was sent. */
  readonly drained: () => Promise<void>;
  /** Fires when the stream has ended. */
  readonly ended: AbortSignal;
}

/** Sends a stream what is already there, in order, and then hands it to the hub: nothing is missed in between and nothing comes twice. */
export async function follow(stream: LiveStream, options: FollowOptions): Promise<void> {
  const { db, state, hub, mountUrl, drained, ended } = options;
  const { filter } = stream;
  const filtered = filter.organisatiecode !== undefined || filter.resourceType !== undefined;
  while (!ended.aborted) {
    const { head: end, redactions } = await state.current();
    const head = end.sequenceNumber;
    if (ended.aborted) return;
    if (stream.position >= head && hub.join(stream)) return;
    const from = stream.position;
    const upTo = filtered ? head : Math.min(from + PAGE, head);
    const { found: records, isCut } = filtered
      ? await readFiltered(db, from, upTo, PAGE, filter)
      : await readEvents(db, from, upTo, PAGE);
    if (from < (await state.current()).historyAfter.sequenceNumber)
      throw new Error('its history was pruned away meanwhile');
    // Piece by piece, so that what waits for a slow client stays small however large the records are.
    for (const { text, last } of pieces(records, mountUrl())) {
      stream.send(Buffer.from(text));
      stream.position = last;
      await drained();
      if (ended.aborted) return;
      // The client may have taken minutes: what was redacted by now must not be sent from memory.
      if (hub.redactions() !== redactions) break;
    }
    const isAll = records.length < PAGE && !isCut;
    if (isAll && stream.position === (records.at(-1)?.sequenceNumber ?? from)) stream.position = upTo;
  }
}

interface Piece {
  readonly text: string;
  /** Number of its last record. */
  readonly last: number;
}

function* pieces(records: readonly Omit<StoredRecord, 'merk'>[], mountUrl: string): Generator<Piece> {
  let text = '';
  for (const [i, record] of records.entries()) {
    text += eventText(record, mountUrl);
    if (text.length < PIECE && i < records.length - 1) continue;
    yield { text, last: record.sequenceNumber };
    text = '';
  }
}
