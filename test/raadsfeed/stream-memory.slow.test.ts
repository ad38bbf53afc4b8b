/** Streams whose clients do not read take little memory, however large the records are, and release it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectGarbage } from '../support/garbage.ts';
import { openStream } from './stream-client.ts';
import { agendapunt, document, type FeedServer, PATIENT, startFeed } from './support.ts';

const MB = 1024 * 1024;
const STREAMS = 50;
/** A quarter of this is for all streams, and a quarter of that for those from one address. */
const UNREAD_BYTES = 64 * MB;
const LARGE = `${'é'.repeat(5)}${'x'.repeat(9 * MB)}`;
const LARGE_NUMBER = 102;
const OTHER = '192.0.2.7';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({
    'raadsfeed.streamMax': String(STREAMS),
    'raadsfeed.streamDrainSeconds': '4',
    'server.unreadAnswersBytes': String(UNREAD_BYTES),
    TRUST_PROXY: '1',
  });
  const filling = 'x'.repeat(90_000);
  for (let from = 0; from < 100; from += 20) {
    const ids = Array.from({ length: 20 }, (_, i) => `d-${from + i}`);
    await feed.publish(ids.map((id) => document(id, { omschrijving: `${id} ${filling}` })));
  }
  await feed.publish([agendapunt('a-1')]);
  await feed.publish([document('groot', { omschrijving: LARGE })]);
  await feed.publish([agendapunt('a-2')]);
});
afterAll(() => feed.stop());

/** Opens a stream without reading it. */
async function deaf(lastEventId: number): Promise<Socket> {
  const { hostname, port } = new URL(feed.server.url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET /ori/v1/feed/stream HTTP/1.1\r\nhost: x\r\nlast-event-id: ${lastEventId}\r\n\r\n`);
  return socket;
}

/** Peak memory held during the work, in megabytes, without garbage, which a busy machine collects late. */
async function measure(work: () => Promise<unknown>): Promise<number> {
  const held = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / MB;
  };
  const before = held();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, held());
  }, 500);
  await work();
  clearInterval(timer);
  return peak - before;
}

describe.each([
  ['one record of 9 MB', LARGE_NUMBER - 1],
  ['records of 90 KB', 0],
])('streams that wait before %s and do not read', (_name, position) => {
  it('hold no more than their share, are disconnected within the drain time, and others read on meanwhile', async () => {
    let sockets: Socket[] = [];
    const grown = await measure(async () => {
      sockets = await Promise.all(Array.from({ length: STREAMS }, () => deaf(position)));
      await sleep(2000);
      const polled = performance.now();
      expect((await feed.api.call('GET', '/feed?limit=1')).status).toBe(200);
      expect(performance.now() - polled).toBeLessThan(10_000);
      await sleep(500);
    });
    expect(grown).toBeLessThan(40);
    // Every slot is taken by one that does not read, until it is disconnected.
    for (let i = 0; i < 3; i += 1) {
      const ask = () => openStream(`${feed.mount}/feed/stream`, { 'last-event-id': '100', 'x-forwarded-for': OTHER });
      let stream = await ask();
      const open = async () => {
        if (stream.status !== 200) stream = await ask();
        return stream.status;
      };
      await expect.poll(open, PATIENT).toBe(200);
      const events = await stream.waitFor(3);
      expect(events.map(({ id }) => id)).toEqual([101, 102, 103]);
      expect(JSON.parse(events[1]?.data ?? '').data.omschrijving === LARGE).toBe(true);
      stream.close();
    }
    for (const socket of sockets) socket.destroy();
  });
});

it('sends a record that exceeds the buffer to live streams too, once and in order', async () => {
  const streams = await Promise.all(
    ['', '?resourceType=Informatieobject'].map((query) => openStream(`${feed.mount}/feed/stream${query}`)),
  );
  await feed.publish([agendapunt('a-3'), document('groot', { omschrijving: `${LARGE} opnieuw` }), agendapunt('a-4')]);
  await feed.publish([document('klein')]);
  const [all, documents] = streams;
  expect((await all?.waitFor(4))?.map(({ id }) => id)).toEqual([104, 105, 106, 107]);
  expect((await documents?.waitFor(2))?.map(({ id }) => id)).toEqual([105, 107]);
  for (const stream of streams) stream.close();
});
