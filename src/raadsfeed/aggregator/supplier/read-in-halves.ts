import type { IssueLog } from './issue-log.ts';
import type { DateWindow, WindowRequest } from './source-adapter.ts';
import { SupplierError } from './supplier-client.ts';
import { halves } from './windows.ts';

/** A hundred times the items of any window. */
const MAX_LISTED = 100_000;
/** Consecutive days that may fail before the supplier counts as unavailable. */
const MAX_FAILED = 5;
/** Consecutive calls that may go unanswered before the window is abandoned. */
const MAX_SILENT = { unanswered: 2, answered: 3 } as const;

interface Halving<T> {
  readonly issues: IssueLog;
  readonly request: Pick<WindowRequest, 'window'>;
  readonly path: string;
  /** A part that is not `divisible` is one day. @throws {SupplierError} */
  readonly read: (part: DateWindow, divisible: boolean) => Promise<readonly T[]>;
  readonly isTooLarge: (error: SupplierError) => boolean;
}

/**
 * Reads a window, in halves where the supplier cannot serve it whole, down to a day. While the supplier is down the rest waits for another reading: a
 * quarter would take some hundred and eighty calls. One that lists other days may refuse any number of them; one that hangs is asked for a single day
 * at once. Unread days are an issue.
 * @throws {SupplierError} when a shorter part would not help
 */
export async function readInHalves<T extends { readonly key: string }>(halving: Halving<T>): Promise<readonly T[]> {
  const { issues, request, path, read, isTooLarge } = halving;
  const found = new Map<string, T>();
  let failed = 0;
  let silent = 0;
  let answered: string | undefined;
  const readPart = async (part: DateWindow): Promise<void> => {
    const unread = (why: string): void => issues.add('unread-days', path, `${part.from} to ${part.to}: ${why}`);
    if (failed >= MAX_FAILED) return unread('left unread: the supplier does not answer');
    const parts = halves(part);
    try {
      const listed = await read(part, parts !== undefined);
      if (listed.length > MAX_LISTED) throw new SupplierError('unreadable', `the answer lists more than ${MAX_LISTED}`);
      for (const one of listed) if (!found.has(one.key)) found.set(one.key, one);
      failed = 0;
      silent = 0;
      answered = part.from;
    } catch (error) {
      if (!(error instanceof SupplierError) || !isTooLarge(error)) throw error;
      if (error.hangs) {
        silent += 1;
        if (silent >= MAX_SILENT[answered === undefined ? 'unanswered' : 'answered']) {
          failed = MAX_FAILED;
          issues.failed(path, error);
        } else if (parts !== undefined) {
          // The day at either end may be the one that hangs: the next round then tries the other.
          const day = answered ?? (Math.random() < 0.5 ? part.from : part.to);
          await readPart({ from: day, to: day });
        }
      }
      for (const half of parts ?? []) await readPart(half);
      if (parts !== undefined) return;
      if (error.passing || found.size === 0) failed += 1;
      unread(error.message);
    }
  };
  await readPart(request.window);
  return [...found.values()];
}
