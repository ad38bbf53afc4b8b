import type { Clock } from '../kernel/clock.ts';
import type { Pool } from '../kernel/database/pool.ts';
import type { Logger } from '../kernel/log.ts';
import type { OutboundClient } from '../kernel/outbound/outbound-client.ts';
import type { LineValidator } from '../raadsfeed/writer/line-validator.ts';

/** What following a source takes. */
export interface AggregatorNeeds {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: OutboundClient;
  readonly validate: LineValidator;
  /** By the published draft instead of our contract: for records of other feeds. */
  readonly validateDraft: LineValidator;
  /** Address of this feed itself: what came from it is not taken back. */
  readonly ownFeedUrl: () => string;
  /** Whether records get an `aggregatorId`. */
  readonly ids: boolean;
  /** Bytes of an answer at most: pages do not grow beyond what fits. */
  readonly maxAnswerBytes: number;
  /** Records of one snapshot at most: one without an end is a fault of its source. */
  readonly maxSnapshotRecords: number;
  /** Milliseconds between looks at a source that was read to its end. */
  readonly pollMs: number;
  /** Milliseconds that lie at least between two snapshots that are begun without an operator's word. */
  readonly restartMs: number;
}
