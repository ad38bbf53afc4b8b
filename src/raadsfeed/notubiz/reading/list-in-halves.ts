import type { DateWindow } from '../../aggregator/source-adapter.ts';
import { halves } from '../../aggregator/windows.ts';
import { NotubizError } from '../client/notubiz-error.ts';

export interface ListCalls<T> {
  /**
   * Lists one window.
   * @param divisible whether it will be asked for in halves when this fails
   */
  readonly list: (window: DateWindow, divisible: boolean) => Promise<readonly T[]>;
  /** Days that could not be listed, and why. */
  readonly unread: (window: DateWindow, reason: string) => void;
}

/** Single days in a row that may be unavailable before the supplier is taken to be away. */
const MAX_AWAY = 3;
/** Single days that may fail in another way before anything was listed at all. */
const MAX_BAD = 7;

/**
 * Lists a window, in halves where the supplier cannot serve it whole, down to a day. When it serves nothing at all, the rest is
 * left for another time: a quarter would otherwise be asked for in a hundred and eighty ways while the supplier is down.
 * @throws {NotubizError} for a failure that a smaller window does not mend
 */
export async function listInHalves<T>(window: DateWindow, calls: ListCalls<T>): Promise<readonly T[]> {
  let away = 0;
  let bad = 0;
  let listed = false;
  const read = async (part: DateWindow): Promise<readonly T[]> => {
    if (away >= MAX_AWAY || (bad >= MAX_BAD && !listed)) {
      calls.unread(part, 'left unread: the supplier does not answer');
      return [];
    }
    const parts = halves(part);
    try {
      const found = await calls.list(part, parts !== undefined);
      away = 0;
      listed = true;
      return found;
    } catch (error) {
      if (!(error instanceof NotubizError) || !mayBeTooMuch(error)) throw error;
      if (parts !== undefined) return [...(await read(parts[0])), ...(await read(parts[1]))];
      away = error.passing ? away + 1 : 0;
      bad += 1;
      calls.unread(part, error.message);
      return [];
    }
  };
  return await read(window);
}

/** Wide windows fail with 404, time out, or come as something that cannot be read. */
function mayBeTooMuch(error: NotubizError): boolean {
  return error.passing || error.kind === 'unreadable' || error.status === 404;
}
