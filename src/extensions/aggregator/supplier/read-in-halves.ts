import type { IssueLog } from './issue-log.ts';
import type { DateWindow, WindowRequest } from './source-adapter.ts';
import { SupplierError } from './supplier-client.ts';
import { halves } from './windows.ts';

/** Items of one list at most: what any window has is a hundredth of it. */
const MAX_LISTED = 100_000;

/** @throws {SupplierError} for a list that would take the memory and the time of everything else */
export function assertListable(list: readonly unknown[]): void {
  if (list.length > MAX_LISTED) throw new SupplierError('unreadable', `the answer lists more than ${MAX_LISTED}`);
}

/** Consecutive single days that may fail before the supplier counts as unavailable: without an answer, or before it listed anything. */
const MAX_FAILED = 5;
/** Calls in a row that a host may leave without an answer: of one that answered any, a day may hang, and be the last of the part before. */
const MAX_SILENT = { unanswered: 2, answered: 3 } as const;

interface Halving {
  readonly issues: IssueLog;
  readonly request: Pick<WindowRequest, 'window'>;
  /** The call, for the issues. */
  readonly path: string;
  /** Reads part of the window; a part that is not `divisible` is one day. @returns how much was new @throws {SupplierError} */
  readonly read: (part: DateWindow, divisible: boolean) => Promise<number>;
  /** Whether the supplier may serve a shorter part. */
  readonly isTooLarge: (error: SupplierError) => boolean;
}

/**
 * Reads a window, in halves where the supplier cannot serve it whole, down to a day. While the supplier is down the rest is left for
 * another reading: a quarter would otherwise take some hundred and eighty calls. A supplier that does list things may refuse any number
 * of days. One that hangs is asked for a single day at once, so that it costs two calls. What is not read is an issue, `unread-days`.
 * @throws {SupplierError} when a shorter part would not help
 */
export async function readInHalves({ issues, request, path, read, isTooLarge }: Halving): Promise<void> {
  let found = 0;
  let failed = 0;
  let silent = 0;
  let limit: number = MAX_SILENT.unanswered;
  const readPart = async (part: DateWindow): Promise<void> => {
    const unread = (why: string): void => issues.add('unread-days', path, `${part.from} to ${part.to}: ${why}`);
    if (failed >= MAX_FAILED) {
      unread('left unread: the supplier does not answer');
      return;
    }
    const parts = halves(part);
    try {
      found += await read(part, parts !== undefined);
      failed = 0;
      silent = 0;
      limit = MAX_SILENT.answered;
    } catch (error) {
      if (!(error instanceof SupplierError) || !isTooLarge(error)) throw error;
      if (error.hangs) {
        silent += 1;
        if (silent >= limit) {
          failed = MAX_FAILED;
          issues.failed(path, error);
        } else if (parts !== undefined) await readPart({ from: part.to, to: part.to });
      }
      for (const half of parts ?? []) await readPart(half);
      if (parts !== undefined) return;
      if (error.passing || found === 0) failed += 1;
      unread(error.message);
    }
  };
  await readPart(request.window);
}
