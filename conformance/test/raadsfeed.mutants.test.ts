import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FeedServer, removal, vergadering } from '../../test/raadsfeed/support.ts';
import { RAADSFEED } from '../raadsfeed/suite.ts';
import { startExampleFeed } from './example-feed.ts';
import { RAADSFEED_MUTANTS } from './mutants/raadsfeed.ts';
import { type BreakingProxy, behindProxy, startProxy } from './proxy.ts';
import { testMutants } from './run-mutants.ts';
import { NOT_OFFERED, runRaadsfeed, WAITING } from './run-raadsfeed.ts';

const CASES = RAADSFEED.chapters.flatMap(({ cases }) => cases);

describe('the suite for a publisher of council information', () => {
  testMutants({
    suite: 'raadsfeed',
    mutants: RAADSFEED_MUTANTS,
    notOffered: NOT_OFFERED,
    waiting: WAITING,
    async open() {
      const { mount, stop } = await startExampleFeed();
      return behindProxy({ target: mount, run: runRaadsfeed, close: stop });
    },
  });
});

describe('a feed with peculiarities', () => {
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

  it('may have parameters in its address', async () => {
    proxy.mutate({
      forward: ({ path, query }) => (query.has('versie') ? { path: path.replace(/versie=2&?/, '') } : undefined),
      answer: ({ json }, { path }) =>
        void (json !== undefined && path === '/' && Object.assign(json, { feedUrl: `${proxy.url}/feed?versie=2` })),
    });
    const results = await runRaadsfeed(proxy.url, (id) => /^C-(FEED|CUR)-/.test(id));
    expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  });

  it('may change while it is read', async () => {
    let changes = 0;
    // After the history, before and after the snapshot: each time another meeting changes.
    proxy.mutate({
      before: async ({ path }) => {
        if (!/^\/(snapshot|organisaties)/.test(path)) return;
        changes += 1;
        await feed.publish([vergadering('v-1', { naam: `Gewijzigd ${changes}` }), vergadering(`nieuw-${changes}`)]);
      },
    });
    const results = await runRaadsfeed(proxy.url, (id) => /^C-(SNAP|COL)-/.test(id));
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });

  it('may have a snapshot that was made before the last changes', async () => {
    const kept = new Map<string, Record<string, unknown> | undefined>();
    proxy.mutate({
      answer: (answer, { path }) => {
        if (!path.startsWith('/snapshot')) return;
        if (!kept.has(path)) kept.set(path, answer.json);
        answer.json = kept.get(path);
      },
    });
    const isWanted = (id: string): boolean => /^C-SNAP-0[2567]$/.test(id);
    await runRaadsfeed(proxy.url, isWanted);
    await feed.publish([vergadering('v-2', { naam: 'Verplaatst' }), removal('delete', 'Informatieobject', 'd-3')]);
    expect((await runRaadsfeed(proxy.url, isWanted)).map(({ outcome }) => outcome)).toEqual(Array(4).fill('passed'));
  });

  it('fails no must case when only the contract names a member', async () => {
    proxy.mutate({
      answer: ({ json }, { path }) => {
        if (json === undefined) return;
        if (path.startsWith('/feed')) {
          json.items = json.records;
          delete json.records;
        }
        if (path !== '/') return;
        json.besturen = json.organisaties;
        delete json.organisaties;
      },
    });
    const musts = CASES.filter(({ level }) => level === 'must').map(({ id }) => id);
    const results = await runRaadsfeed(proxy.url, (id) => musts.includes(id));
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(results.find(({ id }) => id === 'C-SVC-02')?.outcome).toBe('passed');
  });
});
