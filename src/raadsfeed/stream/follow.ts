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
    const head = (await state.current()).head.sequenceNumber;
    if (ended.aborted) return;
    if (stream.position >= head && hub.join(stream)) return;
    const upTo = filtered ? head : Math.min(stream.position + PAGE, head);
    const records = filtered
      ? await readFiltered(db, stream.position, upTo, PAGE, filter)
      : await readEvents(db, stream.position, upTo, PAGE);
    stream.position = records.length < PAGE ? upTo : (records.at(-1)?.sequenceNumber ?? upTo);
    // Piece by piece, so that what waits for a slow client stays small however large the records are.
    for (const text of pieces(records, mountUrl())) {
      stream.send(Buffer.from(text));
      await drained();
      if (ended.aborted) return;
    }
  }
}

function* pieces(records: readonly Omit<StoredRecord, 'merk'>[], mountUrl: string): Generator<string> {
  let text = '';
  for (const record of records) {
    text += eventText(record, mountUrl);
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}
