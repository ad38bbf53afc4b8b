import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFeedPublisher, RefusedLineError } from '../../src/client/raadsfeed.ts';
import { contentHash } from '../../src/lib/feed/record.ts';
import { type FeedServer, PATIENT, quiet, readRecords, removal, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed.stop());

it('publishes from another application, and refuses a call with a faulty line as a whole', async () => {
  const publisher = createFeedPublisher({ databaseUrl: feed.databaseUrl, log: quiet });
  const lines = Array.from({ length: 300 }, (_, i) => vergadering(`v-${i}`));
  expect(await publisher.publish(lines)).toEqual(lines.map((_, i) => ({ recorded: i + 1 })));
  expect(await publisher.publish(lines.slice(0, 2))).toEqual(['no-op', 'no-op']);
  const faulty = publisher.publish([vergadering('v-goed'), { op: 'upsert' }]);
  await expect(faulty).rejects.toThrow(RefusedLineError);
  await expect(faulty).rejects.toMatchObject({ index: 1 });
  expect(await publisher.publish([removal('redact', 'Vergadering', 'v-7')])).toEqual([
    { recorded: 301, redacted: [8] },
  ]);
  await publisher.close();
  await expect.poll(async () => (await readRecords(feed.api)).length, PATIENT).toBe(301);
});

describe('records passed on by another application', () => {
  const publish = async (...lines: unknown[]) => {
    const publisher = createFeedPublisher({ databaseUrl: feed.databaseUrl, log: quiet });
    try {
      return await publisher.publish(lines);
    } finally {
      await publisher.close();
    }
  };

  it('are converted as by JSON: an undefined member is omitted, a date is a text', async () => {
    const line = vergadering('v-datum', { locatie: undefined, gewijzigdop: new Date('2026-01-10T12:00:00Z') });
    const [published] = await publish(line);
    const lastRecord = async () => (await readRecords(feed.api)).at(-1);
    // A publication by another application arrives here as a notification.
    await expect.poll(async () => ({ recorded: (await lastRecord())?.sequenceNumber }), PATIENT).toEqual(published);
    const record = await lastRecord();
    expect(record).toMatchObject({ gewijzigdOp: '2026-01-10T12:00:00.000Z', contentHash: contentHash(record?.data) });
    expect(record?.data).not.toHaveProperty('locatie');
    expect(await publish(vergadering('v-datum', { gewijzigdop: '2026-01-10T12:00:00.000Z' }))).toEqual(['no-op']);
  });

  it.each([
    ['a number that JSON cannot represent', vergadering('v-fout', { naam: Number.NaN })],
    ['a big integer', vergadering('v-fout', { naam: 1n })],
    ['nothing', undefined],
    [
      'itself within itself',
      (() => {
        const around: Record<string, unknown> = { op: 'upsert' };
        around.data = around;
        return around;
      })(),
    ],
  ])('is refused when it is %s', async (_what, line) => {
    await expect(publish(vergadering('v-goed'), line)).rejects.toMatchObject({ code: 'ERR_REFUSED_LINE', index: 1 });
  });
});
