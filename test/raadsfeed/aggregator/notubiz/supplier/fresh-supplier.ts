import { afterEach, beforeEach } from 'vitest';
import { MemoryFeed } from './memory-feed.ts';
import { type NotubizServer, startNotubiz } from './server.ts';

/** The supplier of the test that runs, and a feed that reads it; those who import them always see the present ones. */
export let supplier: NotubizServer;
export let feed: MemoryFeed;

/** Gives every test of a file a supplier and a feed of its own. */
export function freshSupplier(): void {
  beforeEach(async () => {
    supplier = await startNotubiz();
    feed = new MemoryFeed(supplier);
  });
  afterEach(async () => {
    await feed.adapter.close();
    await supplier.close();
  });
}
