/** The promises of the log, each against a threat to it. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from './stream-client.ts';
import {
  asPage,
  document,
  type FeedServer,
  PATIENT,
  publishLines,
  readRecords,
  startFeed,
  vergadering,
} from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ DATABASE_POOL_SIZE: '20' });
});
afterAll(() => feed.stop());

describe('a clock that goes back', () => {
  it('never makes `storedAt` go back', async () => {
    const at = (time: string) => ({ now: () => new Date(time) });
    await publishLines(feed.pool, [vergadering('klok-1')], at('2031-01-01T00:00:00Z'));
    await publishLines(feed.pool, [vergadering('klok-2')], at('2030-01-01T00:00:00Z'));
    const lastTwo = async () => (await readRecords(feed.api)).slice(-2).map(({ storedAt }) => storedAt);
    await expect.poll(lastTwo, PATIENT).toEqual(['2031-01-01T00:00:00.000Z', '2031-01-01T00:00:00.000Z']);
  });
});

describe('a feed restored from a backup', () => {
  it('refuses cursors ahead of its head, and those of reused numbers', async () => {
    const restored = await startFeed();
    await restored.publish([vergadering('v-1'), vergadering('v-2')]);
    const backup = asPage((await restored.api.call('GET', '/feed')).json);
    await restored.publish([vergadering('v-3'), vergadering('v-4')]);
    const lost = asPage((await restored.api.call('GET', '/feed')).json);
    await restoreTo(restored, 2);
    const call = async (cursor: string | null) => (await restored.api.call('GET', `/feed?cursor=${cursor}`)).json;
    const invalid = {
      status: 400,
      type: expect.stringMatching(/ongeldige-cursor$/),
      detail: expect.stringContaining('/snapshot'),
    };
    await expect.poll(() => call(lost.cursor), PATIENT).toMatchObject(invalid);
    await restored.publish([vergadering('v-5'), vergadering('v-6'), vergadering('v-7')]);
    expect(await call(lost.cursor)).toMatchObject(invalid);
    expect(await restored.api.call('GET', `/feed?resourceType=Agendapunt&cursor=${lost.cursor}`)).toMatchObject({
      status: 400,
    });
    expect(asPage(await call(backup.cursor)).records.map(({ sequenceNumber }) => sequenceNumber)).toEqual([3, 4, 5]);
    await restored.stop();
  });

  it('never serves pages of the lost history, though it has them in memory', async () => {
    const restored = await startFeed();
    await restored.publish([vergadering('v-1'), vergadering('v-2')]);
    const { cursor } = asPage((await restored.api.call('GET', '/feed')).json);
    const namesOf = async () =>
      asPage((await restored.api.call('GET', `/feed?limit=2&cursor=${cursor}`)).json).records.map(
        ({ resource }) => resource.bronidentificatie,
      );
    await restored.publish([vergadering('v-3'), vergadering('v-4')]);
    for (const _ of ['first', 'kept']) expect(await namesOf()).toEqual(['v-3', 'v-4']);
    await restoreTo(restored, 2);
    await expect.poll(namesOf, PATIENT).toEqual([]);
    await restored.publish([vergadering('v-5'), vergadering('v-6'), vergadering('v-7')]);
    expect(await namesOf()).toEqual(['v-5', 'v-6']);
    await restored.stop();
  });

  it('ends the streams that are ahead of it: they wait for numbers that they have already seen', async () => {
    const restored = await startFeed();
    await restored.publish(['v-1', 'v-2', 'v-3', 'v-4'].map((id) => vergadering(id)));
    const stream = await openStream(`${restored.mount}/feed/stream`, { 'last-event-id': '0' });
    await stream.waitFor(4);
    await restoreTo(restored, 2);
    await stream.ended;
    const again = await restored.api.call('GET', '/feed/stream', { headers: { 'last-event-id': '4' } });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('/snapshot')]);
    const next = await openStream(`${restored.mount}/feed/stream`);
    await restored.publish([vergadering('v-5')]);
    expect((await next.waitFor(1)).map(({ id }) => id)).toEqual([3]);
    next.close();
    await restored.stop();
  });
});

/** The effect on the feed of restoring an older backup. */
async function restoreTo({ databaseUrl }: FeedServer, number: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const table of ['current_records', 'records', 'texts']) {
    await client.query(`delete from raadsfeed.${table} where sequence_number > ${number}`);
  }
  await client.query(
    `update raadsfeed.feed set head = ${number}, head_epoch = (select epoch from raadsfeed.texts where sequence_number = ${number})`,
  );
  await client.query(`notify raadsfeed, '2 0'`);
  await client.end();
}

describe('a reader that pauses for a long time', () => {
  it('continues where it stopped, and finds exactly what happened since', async () => {
    const first = asPage((await feed.api.call('GET', '/feed?limit=3')).json);
    const all = await readRecords(feed.api);
    const rest = await readRecords(feed.api, `/feed?limit=100`);
    expect(rest).toEqual(all);
    const after: number[] = [];
    for (let cursor = first.cursor; ; ) {
      const page = asPage((await feed.api.call('GET', `/feed?limit=250&cursor=${cursor}`)).json);
      after.push(...page.records.map(({ sequenceNumber }) => sequenceNumber));
      if (!page.hasMore) break;
      cursor = page.cursor;
    }
    expect(after).toEqual(all.slice(3).map(({ sequenceNumber }) => sequenceNumber));
  });
});

describe('a snapshot that is read while records are published', () => {
  it('gives, with the feed after it, exactly the state of the source', async () => {
    const busy = await startFeed();
    const source = new Map<string, unknown>();
    const apply = async (lines: object[]): Promise<void> => {
      await busy.publish(lines);
    };
    await apply(Array.from({ length: 120 }, (_, i) => document(`d-${i}`, { omschrijving: 'eerst' })));
    const held = new Map<string, unknown>();
    let feedCursor = '';
    let cursor: string | null = null;
    for (let round = 0; ; round += 1) {
      const page = asPage(
        (await busy.api.call('GET', `/snapshot?limit=10${cursor === null ? '' : `&cursor=${cursor}`}`)).json,
      );
      if (feedCursor !== '') expect(page.feedCursor).toBe(feedCursor);
      feedCursor = page.feedCursor;
      for (const { resource, data } of page.records) held.set(resource.bronidentificatie, data);
      // Between two pages, an already read, an unread and a new resource change.
      await apply([
        document(`d-${round}`, { omschrijving: `ronde ${round}` }),
        document(`d-${119 - round}`, { omschrijving: `ronde ${round}` }),
        {
          op: 'delete',
          resourceType: 'Informatieobject',
          resource: { organisatiecode: 'gm9901', bronidentificatie: `d-${60 + round}` },
          verwijderreden: 'ingetrokken',
        },
        document(`nieuw-${round}`),
      ]);
      if (!page.hasMore) break;
      cursor = page.cursor;
    }
    for (let next: string | null = feedCursor; next !== null; ) {
      const page = asPage((await busy.api.call('GET', `/feed?limit=9&cursor=${next}`)).json);
      for (const { op, resource, data } of page.records) {
        if (op === 'upsert') held.set(resource.bronidentificatie, data);
        else held.delete(resource.bronidentificatie);
      }
      next = page.hasMore ? page.cursor : null;
    }
    const list = asPage(
      (await busy.api.call('GET', '/organisaties/gm9901/informatieobjecten?limit=1000')).json,
    ).results;
    for (const data of list) source.set(String(data.bronidentificatie), data);
    expect(new Map([...held].sort())).toEqual(new Map([...source].sort()));
    await busy.stop();
  });
});
