/** With a look that holds a hundred times as long: what somebody was told of, nobody is told less than by another instance. */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { transaction } from '../../src/kernel/database/transaction.ts';
import { pruneHistory } from '../../src/raadsfeed/store/prune-history.ts';
import { publishBatch } from '../../src/raadsfeed/store/publish-batch.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { publishLines } from '../../src/raadsfeed/writer/publish-lines.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';
import { asPage, changeOf, type FeedServer, removal, startFeed, vergadering } from './support.ts';

const { HOLDS_MS, SETTLES_MS } = vi.hoisted(() => ({ HOLDS_MS: 400, SETTLES_MS: 500 }));
vi.mock('../../src/raadsfeed/settling.ts', () => ({
  HOLDS_MS,
  SETTLES_MS,
  settled: (since: number) => sleep(Math.max(0, Math.ceil(since + SETTLES_MS - performance.now()))),
}));

let feed: FeedServer;
let other: string;
let round = 0;

beforeAll(async () => {
  feed = await startFeed();
  other = (await feed.another()).mount;
  await feed.publish([vergadering('v-0'), vergadering('v-1'), vergadering('weg')]);
});
afterAll(() => feed.stop());
beforeEach(async () => {
  round += 1;
  // Both hold what they saw just now.
  for (const mount of [feed.mount, other]) await headOf(mount);
});

async function headOf(mount: string): Promise<number> {
  return asPage(await (await fetch(`${mount}/feed?limit=1`)).json()).head;
}

/** Commits a line without waiting until it may be told. @returns its number */
async function commit(line: object): Promise<number> {
  const [outcome] = await transaction(feed.pool, (client) => publishBatch(client, [changeOf(line)], new Date()));
  if (outcome === undefined || outcome === 'no-op') throw new Error('nothing was recorded');
  return outcome.recorded;
}

describe('one instance is not behind what another has shown', () => {
  it.each([
    '/feed',
    '/feed?organisatiecode=gm9901',
    '/snapshot',
    '/organisaties/gm9901/vergaderingen',
    '/organisaties/gm9901/vergaderingen/v-0',
  ])('%s', async (path) => {
    const naam = `Ronde ${round}`;
    const number = await commit(vergadering('v-0', { naam }));
    for (let text = ''; !text.includes(naam); ) text = await (await fetch(`${feed.mount}${path}`)).text();
    expect(await headOf(other)).toBe(number);
  });

  it('what a snapshot does not hold any more', async () => {
    const number = await commit(vergadering('v-0', { naam: `Ronde ${round}` }));
    const { records, feedCursor } = asPage(await (await fetch(`${feed.mount}/snapshot`)).json());
    const after = asPage(await (await fetch(`${other}/feed?cursor=${feedCursor}`)).json());
    expect([...records, ...after.records].map(({ sequenceNumber }) => sequenceNumber)).toContain(number);
  });

  it('a resource that is gone', async () => {
    const number = await commit(removal('delete', 'Vergadering', 'weg'));
    for (let status = 200; status !== 404; )
      ({ status } = await fetch(`${feed.mount}/organisaties/gm9901/vergaderingen/weg`));
    expect(await headOf(other)).toBe(number);
  });

  it('the day of the last change, in the service document', async () => {
    const head = await headOf(other);
    const before = await (await fetch(`${feed.mount}/`)).text();
    const published = feed.publish([vergadering('v-0', { naam: `Ronde ${round}` })]);
    while ((await (await fetch(`${feed.mount}/`)).text()) === before);
    expect(await headOf(other)).toBe(head + 1);
    await published;
  });
});

it('a publisher returns when every instance shows it', async () => {
  const head = await headOf(other);
  await feed.publish([vergadering('v-0', { naam: `Ronde ${round}` })]);
  expect([await headOf(feed.mount), await headOf(other)]).toEqual([head + 1, head + 1]);
});

it('who publishes a file hears that it is done when every instance shows all of it', async () => {
  const head = await headOf(other);
  const lines = Array.from({ length: 3 }, (_, i) => JSON.stringify(vergadering(`regel-${i}`)));
  const counts = await publishLines(Readable.from([Buffer.from(lines.join('\n'))]), {
    validate: createLineValidator(),
    publisher: createPublisher({ pool: feed.pool, clock: systemClock }),
    refused: () => undefined,
    progress: () => undefined,
    signal: new AbortController().signal,
  });
  expect(counts.recorded).toBe(3);
  expect(await headOf(other)).toBe(head + 3);
});

it('a publisher who hears that another was first finds it on every instance', async () => {
  const line = vergadering('v-0', { naam: `Ronde ${round}` });
  const number = await commit(line);
  expect(await feed.publish([line])).toEqual(['no-op']);
  expect([await headOf(feed.mount), await headOf(other)]).toEqual([number, number]);
});

it('pruning takes rows away when no instance takes them to be there', async () => {
  // It keeps no pages, so each is read.
  const { mount } = await feed.another({ RAADSFEED_CACHE_MB: '0' });
  const { cursor } = asPage(await (await fetch(`${mount}/feed`)).json());
  await feed.publish([vergadering('v-2')]);
  await feed.publish([vergadering('v-2', { naam: 'Anders' })]);
  // Read with a filter, so that a hole would not be seen from the numbers.
  const checkPage = async () => {
    const answer = await fetch(`${mount}/feed?organisatiecode=gm9901&limit=1&cursor=${cursor}`);
    const { records } = asPage(await answer.json());
    if (answer.status !== 400) expect(records.map(({ data }) => data?.naam)).toEqual(['Vergadering v-2']);
  };
  await checkPage();
  const pruned = pruneHistory(feed.pool, {
    before: new Date(Date.now() + 60_000),
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  const end = performance.now() + 2 * SETTLES_MS;
  while (performance.now() < end) await checkPage();
  expect((await pruned).removed).toBeGreaterThan(0);
});
