import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf } from '../../../src/extensions/conformance/raadsfeed/stream.ts';
import { type FeedServer, readRecords } from '../../raadsfeed/support.ts';
import { callProgram } from '../../support/program.ts';
import { startExampleFeed } from './example-feed.ts';
import { runPublish } from './run-publish.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startExampleFeed();
});
afterAll(() => feed?.stop());

const publish = async (line: object): Promise<void> => void (await feed.publish([line]));

describe('the suite for publishing council information', () => {
  it('finds no fault in our own service, and leaves its state as it was', async () => {
    const before = await readRecords(feed.api, '/snapshot');
    const results = await runPublish({ url: feed.mount, publish });
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
    expect(await readRecords(feed.api, '/snapshot')).toEqual(before);
  });

  it('takes a line separator of Unicode in an event for text', () => {
    expect(eventsOf('data: "a\u2028b"\n\n')).toEqual([{ data: '"a\u2028b"' }]);
  });

  it('is inconclusive where the command publishes nothing', async () => {
    const words = [
      'conformance',
      'raadsfeed',
      feed.mount,
      '--rate',
      '100',
      '--only',
      'P-NEW-01',
      'C-FEED-05',
      '--json',
    ];
    const command = `sh -c 'exit 1' https://naam:geheim@raad.example eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl`;
    const ended = await callProgram([...words, '--publish', command], { PATH: process.env.PATH ?? '' });
    expect(ended.stdout + ended.stderr).not.toMatch(/geheim|c2lnbmF0dXJl/);
    expect(ended.stderr).toMatch(
      /publishes about a dozen resources of gm9901 whose bronidentificatie begins with conformance-/,
    );
    expect(JSON.parse(ended.stdout).cases).toMatchObject([
      { id: 'C-FEED-05', outcome: 'passed' },
      {
        ...{ id: 'P-NEW-01', outcome: 'inconclusive', reason: 'the command for `--publish` ended with status 1:  ' },
        again: expect.stringContaining(
          ` --publish 'sh -c '\\''exit 1'\\'' https://(masked)@raad.example (masked)' --only P-NEW-01 `,
        ),
      },
    ]);
  });
});
