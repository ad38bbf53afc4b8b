import { afterEach, beforeEach } from 'vitest';
import { MemoryFeed } from './memory-feed.ts';
import { type NotubizServer, startNotubiz } from './server.ts';

/** The supplier of the running test, and a feed that reads it; imports always see the current ones. */
export let supplier: NotubizServer;
export let feed: MemoryFeed;

/** Gives every test of a file its own supplier and feed. */
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
