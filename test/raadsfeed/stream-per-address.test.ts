import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStream } from './stream-client.ts';
import { type FeedServer, PATIENT, startFeed } from './support.ts';

let feed: FeedServer;

beforeAll(async () => {
  feed = await startFeed({ 'raadsfeed.streamMaxPerAddress': '3', 'raadsfeed.streamMax': '10', TRUST_PROXY: '1' });
});
afterAll(() => feed.stop());

it('limits the streams of one address, not those of others, and accepts a new one when one has ended', async () => {
  const from = (address: string) => openStream(`${feed.mount}/feed/stream`, { 'x-forwarded-for': address });
  const streams = await Promise.all([1, 2, 3].map(() => from('192.0.2.1')));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const refused = await feed.api.call('GET', '/feed/stream', { headers: { 'x-forwarded-for': '192.0.2.1' } });
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('30');
  const other = await from('192.0.2.2');
  expect(other.status).toBe(200);
  streams[0]?.close();
  const again = async () => {
    const stream = await from('192.0.2.1');
    if (stream.status === 200) streams.push(stream);
    return stream.status;
  };
  await expect.poll(again, PATIENT).toBe(200);
  for (const stream of [...streams, other]) stream.close();
});
