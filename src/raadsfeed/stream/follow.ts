import type { Db } from '../../kernel/database/db.ts';
import type { FeedState } from '../feed-state.ts';
import { readEvents } from '../store/read-events.ts';
import { readFiltered } from '../store/read-records.ts';
import type { Hub, LiveStream } from './hub.ts';
import { eventText } from './stream-event.ts';

/** Records that catching up reads at once. */
const PAGE = 200;

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
    if (records.length > 0) {
      const url = mountUrl();
      stream.send(Buffer.from(records.map((record) => eventText(record, url)).join('')));
      await drained();
    }
  }
}
