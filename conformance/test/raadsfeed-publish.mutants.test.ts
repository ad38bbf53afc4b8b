import { describe } from 'vitest';
import { startExampleFeed } from './example-feed.ts';
import { PUBLISH_MUTANTS } from './mutants/raadsfeed-publish.ts';
import { behindProxy } from './proxy.ts';
import { testMutants } from './run-mutants.ts';
import { runPublish } from './run-publish.ts';

describe('the suite for publishing', () => {
  testMutants({
    suite: 'raadsfeed-publish',
    mutants: PUBLISH_MUTANTS,
    notOffered: [],
    lanes: 3,
    async open() {
      const feed = await startExampleFeed();
      const publish = async (line: object): Promise<void> => void (await feed.publish([line]));
      return behindProxy({
        target: feed.mount,
        run: (url) => runPublish({ url, publish, patienceMs: 1500 }),
        close: feed.stop,
      });
    },
  });
});
