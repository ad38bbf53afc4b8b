/**
 * What lets an instance answer many readers after one look at the database, and yet never with less than anybody knows already.
 *
 * Who has looked takes it that nothing has changed until `HOLDS_MS` after he began to look. In return nobody tells of a change before
 * `SETTLES_MS` after its commit: a writer returns only then, and an instance that sees it shows it only then. Every look from before the
 * commit is over by then, in every instance. Only lengths of time are compared, never two clocks.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a look at the feed holds, in milliseconds from when it began. */
export const HOLDS_MS = 4;
/** How long a change is kept quiet, in milliseconds from its commit; more than a look holds, for no two clocks run equally fast. */
export const SETTLES_MS = 5;

/** Resolves when what was committed at or before `since` (as `performance.now()` has it) may be told of. */
export async function settled(since: number): Promise<void> {
  for (;;) {
    const left = since + SETTLES_MS - performance.now();
    if (left <= 0) return;
    // A timer may fire a part of a millisecond early.
    await sleep(left);
  }
}
