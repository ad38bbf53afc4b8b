import { afterAll, beforeAll, describe } from 'vitest';
import type { FeedServer } from '../../raadsfeed/support.ts';
import { startExampleFeed } from './example-feed.ts';
import { PUBLISH_MUTANTS } from './mutants/raadsfeed-publish.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';
import { testMutants } from './run-mutants.ts';
import { runPublish } from './run-publish.ts';

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

describe('the suite for publishing', () => {
  testMutants({
    suite: 'raadsfeed-publish',
    mutants: PUBLISH_MUTANTS,
    notOffered: [],
    run: (mutant) => {
      proxy.mutate(mutant?.mutation ?? {});
      const publish = async (line: object): Promise<void> => void (await feed.publish([line]));
      return runPublish({ url: proxy.url, publish, patienceMs: 1500 });
    },
  });
});
