import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from './stream-client.ts';
import { agendapunt, asPage, type FeedServer, PATIENT, readRecords, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ 'raadsfeed.streamMax': '50' });
  await feed.publish([vergadering('v-1'), agendapunt('a-1'), agendapunt('a-2')]);
});
afterAll(() => feed.stop());

describe('the stream', () => {
  it('begins at the head and sends new records as the feed returns them', async () => {
    const stream = await openStream(`${feed.mount}/feed/stream`);
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'api-version': '0.0.2',
      'access-control-allow-origin': '*',
    });
    await feed.publish([vergadering('v-2'), agendapunt('a-3')]);
    const events = await stream.waitFor(2);
    expect(stream.raw()).toMatch(/^retry: 3000\nid: /);
    const records = (await readRecords(feed.api)).slice(-2);
    expect(events.map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) }))).toEqual(
      records.map((record) => ({ id: record.sequenceNumber, event: 'message', data: record })),
    );
    stream.close();
  });

  it('resumes after `Last-Event-ID`, which takes precedence over `cursor`', async () => {
    const { cursor } = asPage((await feed.api.call('GET', '/feed?limit=1')).json);
    const stream = await openStream(`${feed.mount}/feed/stream?cursor=${cursor}`, { 'last-event-id': '3' });
    expect((await stream.waitFor(2)).map(({ id }) => id)).toEqual([4, 5]);
    stream.close();
  });

  it.each(['lastEventId', 'Last-Event-ID'])(
    'resumes after `%s` in the query; the header takes precedence',
    async (name) => {
      const stream = await openStream(`${feed.mount}/feed/stream?${name}=3`);
      expect((await stream.waitFor(2)).map(({ id }) => id)).toEqual([4, 5]);
      stream.close();
      const other = await openStream(`${feed.mount}/feed/stream?${name}=1`, { 'last-event-id': '4' });
      expect((await other.waitFor(1)).map(({ id }) => id)).toEqual([5]);
      other.close();
      const refused = await feed.api.call('GET', `/feed/stream?${name}=drie`);
      expect(refused.status).toBe(400);
      expect(refused.json).toMatchObject({ invalidParams: [{ name: 'Last-Event-ID' }] });
    },
  );

  it('starts after `cursor` and passes only records that match the filters', async () => {
    const { cursor } = asPage((await feed.api.call('GET', '/feed?limit=1')).json);
    const url = `${feed.mount}/feed/stream?cursor=${cursor}&resourceType=Agendapunt&organisatiecode=GM9901`;
    const stream = await openStream(url);
    await stream.waitFor(3);
    await feed.publish([vergadering('v-3'), agendapunt('a-4')]);
    expect((await stream.waitFor(4)).map(({ id }) => id)).toEqual([2, 3, 5, 7]);
    stream.close();
  });

  it('sends records published by another instance', async () => {
    const second = await feed.another();
    const stream = await openStream(`${second.mount}/feed/stream`);
    await feed.publish([vergadering('v-4')]);
    expect(await stream.waitFor(1)).toHaveLength(1);
    stream.close();
  });

  it('refuses a `Last-Event-ID` in the future', async () => {
    const answer = await feed.api.call('GET', '/feed/stream', { headers: { 'last-event-id': '999999' } });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ type: expect.stringMatching(/\/problems\/ongeldige-cursor$/) });
  });

  it('answers HEAD with the headers alone', async () => {
    const answer = await feed.api.call('HEAD', '/feed/stream');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    // The length of a stream is not zero but unknown.
    expect(answer.headers.has('content-length')).toBe(false);
  });

  it('accepts no more streams than configured, and gives slots back', async () => {
    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(`${feed.mount}/feed/stream`)));
    const refused = await feed.api.call('GET', '/feed/stream');
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const stream of streams) stream.close();
    await Promise.all(streams.map(({ ended }) => ended));
    await expect
      .poll(async () => {
        const stream = await openStream(`${feed.mount}/feed/stream`);
        stream.close();
        return stream.status;
      }, PATIENT)
      .toBe(200);
  });

  it('ends when the server stops', async () => {
    const second = await feed.another();
    const stream = await openStream(`${second.mount}/feed/stream`);
    await second.server.stop();
    await stream.ended;
  });
});
