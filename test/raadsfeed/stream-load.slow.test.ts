/** Streams under load: broken connections, clients that do not read, several instances. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStream } from './stream-client.ts';
import {
  agendapunt,
  document,
  type FeedServer,
  PATIENT,
  publishLines,
  readRecords,
  startFeed,
  vergadering,
} from './support.ts';

const DRAIN_SECONDS = 1;

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({
    'raadsfeed.streamHeartbeatSeconds': '1',
    'raadsfeed.streamDrainSeconds': String(DRAIN_SECONDS),
  });
});
afterAll(() => feed.stop());

describe('a reader that keeps reconnecting', () => {
  it('misses no record and gets none twice over four hundred connections to two instances', async () => {
    const other = await feed.another();
    const total = 400;
    let published = 0;
    const publishing = (async () => {
      for (; published < total; published += 5) {
        await publishLines(
          feed.pool,
          Array.from({ length: 5 }, (_, i) => agendapunt(`n-${published + i}`)),
        );
      }
    })();
    const readers = [0, 1].map(async (reader) => {
      const seen: number[] = [];
      for (let connection = 0; connection < 200 || seen.length < total; connection += 1) {
        const mount = connection % 2 === reader ? feed.mount : other.mount;
        const stream = await openStream(`${mount}/feed/stream`, { 'last-event-id': String(seen.at(-1) ?? 0) });
        if (seen.length < total) await stream.waitFor(1);
        seen.push(...stream.events.map(({ id }) => id));
        stream.close();
      }
      return seen;
    });
    await publishing;
    const numbers = Array.from({ length: total }, (_, i) => i + 1);
    for (const seen of await Promise.all(readers)) expect(seen).toEqual(numbers);
  });
});

describe('a client that does not read', () => {
  function deaf(headers: string): Promise<{ socket: Socket; closed: Promise<void> }> {
    const { hostname, port } = new URL(feed.server.url);
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(`GET /ori/v1/feed/stream HTTP/1.1\r\nhost: x\r\n${headers}\r\n`);
        socket.pause();
        const closed = new Promise<void>((done) => socket.on('close', () => done()).on('error', () => undefined));
        resolve({ socket, closed });
      });
    });
  }

  it('is disconnected, live and while it catches up, and the others continue', async () => {
    const good = await openStream(`${feed.mount}/feed/stream`);
    const [live, behind] = [await deaf(''), await deaf('last-event-id: 0\r\n')];
    const text = 'x'.repeat(200_000);
    let count = 0;
    for (; count < 60; count += 1) await feed.publish([document('groot', { omschrijving: `${count} ${text}` })]);
    await good.waitFor(count);
    // On a fast machine they have not been silent for long enough yet.
    await sleep(3 * DRAIN_SECONDS * 1000);
    // Data already sent may still be read; then the connection ends.
    live.socket.resume();
    behind.socket.resume();
    await Promise.all([live.closed, behind.closed]);
    good.close();
  });

  it('gets a comment while nothing happens, when it does read', async () => {
    const stream = await openStream(`${feed.mount}/feed/stream`);
    await expect.poll(() => stream.raw(), PATIENT).toContain('\n:\n');
    stream.close();
  });
});

it('has given back every slot when all have ended', async () => {
  const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(`${feed.mount}/feed/stream`)));
  await feed.publish([vergadering('laatste')]);
  for (const stream of streams) await stream.waitFor(1);
  for (const stream of streams) stream.close();
  expect((await readRecords(feed.api, '/feed?resourceType=Vergadering')).length).toBe(1);
});
