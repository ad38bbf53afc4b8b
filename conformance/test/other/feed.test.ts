import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLE_LINES } from '../example-feed.ts';
import { callConformance } from '../program.ts';
import { runPublish } from '../run-publish.ts';
import { runRaadsfeed } from '../run-raadsfeed.ts';
import { FEED_PY, hasPython, type OtherFeed, startOtherFeed } from './feed.ts';

/** The contract's optional features: a stream, pages for people, a role as aggregator or register, its own contract, compression. */
const NOT_OFFERED = /^C-(STR-\d\d|SVC-1[01346]|REC-19|REC-20|HTTP-06|ERR-0[89])$/;
const OF_STREAMS = ['P-NEW-11', 'P-RED-08'];

describe.skipIf(!hasPython)('a publisher that was written from the contract alone', () => {
  let other: OtherFeed;
  beforeAll(async () => {
    other = await startOtherFeed();
    await other.publish(EXAMPLE_LINES);
  });
  afterAll(() => other?.stop());

  it('passes the cases it offers features for, and the rest is skipped', async () => {
    const results = await runRaadsfeed(other.url, () => true);
    const others = results.filter(({ id, outcome }) => outcome !== (NOT_OFFERED.test(id) ? 'skipped' : 'passed'));
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
  });

  it('passes the cases about publishing, and the stream is skipped', async () => {
    const results = await runPublish({ url: other.url, publish: (line) => other.publish([line]) });
    const others = results.filter(({ id, outcome }) => outcome !== (OF_STREAMS.includes(id) ? 'skipped' : 'passed'));
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
  });

  it('is published to by the command of `--publish`', async () => {
    const words = ['raadsfeed', other.url, '--rate', '100', '--only', 'P-NEW-01', '--json'];
    const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
    const ended = await callConformance([...words, '--publish', `python3 ${FEED_PY} publish ${other.url}`], env);
    expect({ status: ended.status, counts: JSON.parse(ended.stdout).counts }).toMatchObject({
      status: 0,
      counts: { passed: 1 },
    });
  });
});
