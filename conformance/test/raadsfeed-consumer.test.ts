import { describe, expect, it } from 'vitest';
import { Failed } from '../case.ts';
import { commandConsumer } from '../raadsfeed-consumer/consumer.ts';
import { PlayedFeed } from '../raadsfeed-consumer/played-feed.ts';
import { CONSUMER_MJS, exampleConsumer } from './example-consumer.ts';
import { CONSUMER_MUTANTS } from './mutants/raadsfeed-consumer.ts';
import { callConformance } from './program.ts';
import { OF_AGGREGATORS, runConsumer } from './run-consumer.ts';

/** Faults that must be noticed in every consumer. */
const PLANTED = ['K-RED-01', 'K-FEED-10', 'K-TRUST-01', 'K-ERR-03'];

const conformance = (...words: readonly string[]) =>
  callConformance(['raadsfeed-consumer', ...words], { PATH: process.env.PATH ?? '' });

describe('the suite for a consumer of council information', () => {
  it('finds no fault in the example', async () => {
    const results = await runConsumer({ patienceMs: 10_000, consumer: () => exampleConsumer() });
    const others = results.filter(
      ({ outcome, id }) => outcome !== (OF_AGGREGATORS.includes(id) ? 'skipped' : 'passed'),
    );
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
  });

  it('catches a consumer that loses a redaction, duplicates, trusts anybody, or deletes on an empty answer', async () => {
    const planted = CONSUMER_MUTANTS.filter(({ kills }) => PLANTED.includes(kills));
    const runs = planted.map(({ kills, mutation }) =>
      runConsumer({
        patienceMs: 500,
        consumer: () => exampleConsumer(mutation),
        isWanted: (id) => id === kills,
      }),
    );
    const results = (await Promise.all(runs)).flat();
    expect(results.map(({ id, outcome }) => `${id} ${outcome}`).toSorted()).toEqual(
      PLANTED.map((id) => `${id} failed`).toSorted(),
    );
  });
});

describe('koppelvlak-conformance raadsfeed-consumer', () => {
  const few = ['--only', 'K-BEG-03', '--json'];

  it('drives a program with lines of JSON', async () => {
    const { status, stdout } = await conformance('--program', `node ${CONSUMER_MJS}`, ...few);
    const report = JSON.parse(stdout);
    expect({ status, report }).toMatchObject({ status: 0, report: { counts: { passed: 1 } } });
    // Lines that the program sent: the suite itself sends none.
    expect(report.requests).toBeGreaterThan(0);
  });

  it('runs a command until its output matches the feed, or fails', async () => {
    const script = `fetch('{feed}/snapshot').then((answer) => answer.json()).then(({ records }) => records.forEach((one) => console.log(JSON.stringify(one))))`;
    const { status, stdout } = await conformance('--state', `node -e "${script}"`, '--patience', '1', ...few);
    // It reads one page.
    expect(status).toBe(1);
    expect(JSON.parse(stdout).cases).toMatchObject([
      {
        outcome: 'failed',
        reason: expect.stringMatching(/^it does not hold gm900\d\/Informatieobject\/c$/),
        // With the option that differs from its default.
        again: expect.stringMatching(
          /^koppelvlak-conformance raadsfeed-consumer --patience 1 --state '.*' --only K-BEG-03 --save /,
        ),
      },
    ]);
  });

  it('exits with 2 when there is nothing to test', async () => {
    const ended = await Promise.all([
      conformance(),
      conformance('--program', 'node a.mjs', '--state', 'node b.mjs'),
      conformance('--feed', 'http://127.0.0.1:1/', '--add', 'false', '--only', 'K-BEG-01'),
    ]);
    expect(ended.map(({ status }) => status)).toEqual([2, 2, 2]);
    expect(ended[2]?.stderr).toContain('--add: `false` ended with status 1');
  });

  it('exits with 2 when the command never works, and names it', async () => {
    const ended = await Promise.all([
      conformance('--state', 'sh -c "echo kapot >&2; exit 3"', '--only', 'K-BEG-03'),
      conformance('--state', '/er/niet {feed}', '--only', 'K-BEG-03'),
      conformance('--program', 'false', '--only', 'K-BEG-03'),
      conformance('--program', "sed -u 's/follow/anders/'", '--only', 'K-BEG-03'),
    ]);
    expect(ended.map(({ status }) => status)).toEqual([2, 2, 2, 2]);
    expect(ended.map(({ stderr }) => stderr.split('\n').at(-2))).toEqual([
      expect.stringMatching(/cannot be tested: .*`sh -c echo kapot >&2; exit 3` ended with status 3: kapot$/),
      expect.stringMatching(/cannot be tested: .*could not be run: spawn \/er\/niet ENOENT$/),
      expect.stringMatching(/: false cannot be tested: .*the program ended \(status 1\) without an answer$/),
      expect.stringMatching(/cannot be tested: .*its answer has no list `state`$/),
    ]);
  });

  it('blames the consumer when a command that worked before fails', async () => {
    const consumer = await commandConsumer({
      command: ['sh', '-c', `[ ! -e been ] && touch been || exit 4`],
      env: process.env,
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    });
    const feed = new PlayedFeed('gm9001', 'http://127.0.0.1:1');
    expect(await consumer.read(feed)).toEqual([]);
    await expect(consumer.read(feed)).rejects.toBeInstanceOf(Failed);
    await consumer.close();
  });
});
