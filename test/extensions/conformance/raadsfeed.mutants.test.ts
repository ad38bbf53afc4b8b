import { afterAll, beforeAll, describe } from 'vitest';
import type { FeedServer } from '../../raadsfeed/support.ts';
import { startExampleFeed } from './example-feed.ts';
import { RAADSFEED_MUTANTS } from './mutants/raadsfeed.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';
import { testMutants } from './run-mutants.ts';
import { NOT_OFFERED, runRaadsfeed, WAITING } from './run-raadsfeed.ts';

let feed: FeedServer;
let proxy: BreakingProxy;
beforeAll(async () => {
  feed = await startExampleFeed();
  proxy = await startProxy(feed.mount);
});
afterAll(async () => {
  await proxy?.stop();
  await feed?.stop();
});

describe('the suite for a publisher of council information', () => {
  testMutants({
    suite: 'raadsfeed',
    mutants: RAADSFEED_MUTANTS,
    notOffered: NOT_OFFERED,
    run: (mutant) => {
      proxy.mutate(mutant?.mutation ?? {});
      return runRaadsfeed(proxy.url, (id) => !WAITING.includes(id) || mutant === undefined || mutant.kills === id);
    },
  });
});
