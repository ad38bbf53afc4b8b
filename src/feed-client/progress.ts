/** Whether reading gets anywhere: what a source answers page by page can go round, or have no end. */
import { FeedFault } from './feed-fault.ts';

/** What is remembered of the pages since the snapshot or the feed was begun; small, whatever was read. */
export interface ReadingProgress {
  /** A cursor that was met; it is moved further apart each time (Brent's cycle detection). */
  readonly checkpoint: string | null;
  readonly steps: number;
  readonly span: number;
  /** Pages in a row without a record, with more to come. */
  readonly empty: number;
  /** Records of the snapshot, and the highest number among them. */
  readonly records: number;
  readonly highest: number;
}

export const NO_PROGRESS: ReadingProgress = { checkpoint: null, steps: 0, span: 1, empty: 0, records: 0, highest: 0 };

/** Pages without a record, with more to come: what is read is not filtered, so there is no reason for one. */
const MAX_EMPTY = 200;

export interface PageStep {
  readonly cursor: string;
  readonly numbers: readonly number[];
  readonly isSnapshot: boolean;
  /** Records of a snapshot at most. */
  readonly maxRecords: number;
}

/**
 * Takes note of a page that has more after it.
 * @throws {FeedFault} `cursor-circle`, `snapshot-endless`
 */
export function notePage(
  before: ReadingProgress,
  { cursor, numbers, isSnapshot, maxRecords }: PageStep,
): ReadingProgress {
  if (cursor === before.checkpoint) throw new FeedFault('cursor-circle', 'its cursors come back to where they were');
  const empty = numbers.length === 0 ? before.empty + 1 : 0;
  const endless = isSnapshot ? 'snapshot-endless' : 'cursor-circle';
  if (empty > MAX_EMPTY) throw new FeedFault(endless, `${empty} pages in a row have no records, and there is more`);
  const records = isSnapshot ? before.records + numbers.length : 0;
  const highest = isSnapshot ? numbers.reduce((most, number) => Math.max(most, number), before.highest) : 0;
  // Each resource stands in a snapshot by the record that made it, and that has a number of its own.
  if (records > highest) {
    throw new FeedFault(
      'snapshot-endless',
      `the snapshot has ${records} records, and its highest number is ${highest}`,
    );
  }
  if (records > maxRecords) throw new FeedFault('snapshot-endless', `the snapshot has more than ${maxRecords} records`);
  const moves = before.checkpoint === null || before.steps + 1 >= before.span;
  return {
    checkpoint: moves ? cursor : before.checkpoint,
    steps: moves ? 0 : before.steps + 1,
    span: moves ? before.span * 2 : before.span,
    empty,
    records,
    highest,
  };
}

/** Reads progress that was kept as JSON; what is none begins anew. */
export function toProgress(value: unknown): ReadingProgress {
  if (typeof value !== 'object' || value === null) return NO_PROGRESS;
  const { mark, ...kept }: Record<string, unknown> = { ...value };
  const number = (name: string, least: number): number => {
    const found = kept[name];
    return typeof found === 'number' && found >= least ? found : least;
  };
  return {
    checkpoint: typeof mark === 'string' ? mark : null,
    steps: number('steps', 0),
    span: number('span', 1),
    empty: number('empty', 0),
    records: number('records', 0),
    highest: number('highest', 0),
  };
}
