import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedServer } from '../../raadsfeed/support.ts';
import { startExampleFeed } from './example-feed.ts';
import { RAADSFEED_MUTANTS } from './mutants/raadsfeed.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';
import { NOT_OFFERED, runRaadsfeed, WAITING } from './run-raadsfeed.ts';

/** Other cases that a mutant may fail; those that break transport itself need not keep to it. */
const MOST_OTHERS = 5;

let feed: FeedServer;
let proxy: BreakingProxy;
const table: string[] = [];
beforeAll(async () => {
  feed = await startExampleFeed();
  proxy = await startProxy(feed.mount);
});
afterAll(async () => {
  await proxy?.stop();
  await feed?.stop();
  process.stdout.write(
    `${table.length} mutants of the council feed, and the cases that kill each\n${table.join('\n')}\n`,
  );
});

describe('the suite for a publisher of council information', () => {
  it('finds no fault in our own service through the proxy of the mutants', async () => {
    proxy.mutate({});
    const results = await runRaadsfeed(proxy.url, () => true);
    expect(results.filter(({ outcome, id }) => outcome !== 'passed' && !NOT_OFFERED.includes(id))).toEqual([]);
  });

  it.each(RAADSFEED_MUTANTS)('$kills fails: $what', async ({ kills, mutation, what }) => {
    proxy.mutate(mutation);
    const results = await runRaadsfeed(proxy.url, (id) => id !== WAITING || kills === WAITING);
    const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
    table.push(
      `${kills.padEnd(11)} ${what}${failed.length > 1 ? ` (also ${failed.filter((id) => id !== kills).join(', ')})` : ''}`,
    );
    expect(failed).toContain(kills);
    expect(failed.length - 1, failed.join(', ')).toBeLessThanOrEqual(MOST_OTHERS);
  });
});
