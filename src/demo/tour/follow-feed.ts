import { isRecord } from '../../kernel/is-record.ts';
import type { DemoClient } from '../client/demo-client.ts';

/** Everything that was read on the way to the end. */
export interface Followed {
  readonly records: readonly Record<string, unknown>[];
  readonly pages: number;
  /** The head at the last page; 0 for a snapshot. */
  readonly head: number;
  /** Where the feed goes on after a snapshot, else empty. */
  readonly feedCursor: string;
}

const MOST_PAGES = 1000;

/** Reads pages along `next` until there are no more. @throws {Error} when one is not answered with 200 */
export async function followFeed(client: DemoClient, start: string, what: string): Promise<Followed> {
  const records: Record<string, unknown>[] = [];
  let address: string = start;
  for (let pages = 1; pages <= MOST_PAGES; pages += 1) {
    const { status, body } = await client.call('GET', address);
    if (status !== 200 || !Array.isArray(body.records)) throw new Error(`${what} answered ${status}`);
    records.push(...body.records.filter(isRecord));
    if (body.hasMore !== true || typeof body.next !== 'string') {
      return { records, pages, head: Number(body.head ?? 0), feedCursor: String(body.feedCursor ?? '') };
    }
    address = body.next;
  }
  throw new Error(`${what} does not end`);
}
