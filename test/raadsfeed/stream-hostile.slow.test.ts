/** Streams whose clients disconnect at the wrong moment, or send odd requests. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pruneTo, withLock } from './locks.ts';
import { openStream } from './stream-client.ts';
import { document, type FeedServer, PATIENT, removal, startFeed, vergadering } from './support.ts';

const MAX = 3;

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ 'raadsfeed.streamMax': String(MAX) });
  await feed.publish(Array.from({ length: 20 }, (_, i) => vergadering(`v-${i}`)));
});
afterAll(() => feed.stop());

/** Sends the head of a request without reading anything yet. */
function ask(headers = '', at = feed): Promise<Socket> {
  const { hostname, port } = new URL(at.server.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET /ori/v1/feed/stream HTTP/1.1\r\nhost: x\r\n${headers}\r\n`, () => resolve(socket));
    });
    socket.pause().on('error', () => undefined);
  });
}

describe('a client that disconnects before its stream has begun', () => {
  it('gives its slot back', async () => {
    const places = async () => (await feed.api.call('HEAD', '/feed/stream')).status;
    // Every query for the head of the feed waits, and so does every new stream.
    await withLock(feed.databaseUrl, 'raadsfeed.feed', async () => {
      const sockets = await Promise.all(Array.from({ length: MAX }, () => ask()));
      await expect.poll(places, PATIENT).toBe(503);
      for (const socket of sockets) socket.destroy();
      // The server must notice while they wait.
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
    await expect.poll(places, PATIENT).toBe(200);
    const streams = await Promise.all(Array.from({ length: MAX }, () => openStream(`${feed.mount}/feed/stream`)));
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: MAX }, () => 200));
    for (const stream of streams) stream.close();
    await expect.poll(places, PATIENT).toBe(200);
  });
});

describe('a stream that does not start', () => {
  it('takes no slot when it is refused', async () => {
    for (let i = 0; i < 2 * MAX; i += 1) {
      expect((await feed.api.call('GET', '/feed/stream?cursor=x')).status).toBe(400);
      expect((await feed.api.call('HEAD', '/feed/stream')).status).toBe(200);
    }
  });

  it('is answered in time when the database is slow, and then does nothing more', async () => {
    const late = await feed.another({ 'server.requestTimeoutMs': '1000', 'raadsfeed.streamMax': '1' });
    await withLock(feed.databaseUrl, 'raadsfeed.feed', async () => {
      // Its cached state is valid for a second.
      await expect.poll(async () => (await late.api.call('GET', '/feed')).status, PATIENT).toBe(503);
      expect((await late.api.call('GET', '/feed/stream')).status).toBe(503);
    });
    const open = async () => {
      const stream = await openStream(`${late.mount}/feed/stream`);
      stream.close();
      return stream.status;
    };
    await expect.poll(open, PATIENT).toBe(200);
    // The page above may fail after its own 503.
    const ofPage = /at readPage \([^)]*routes\/feed\.ts/;
    const unforeseen = late.server.logged.filter(
      (line) => /hijack|sent|Promise/i.test(String(line.msg)) && !ofPage.test(JSON.stringify(line)),
    );
    expect(unforeseen).toEqual([]);
  });
});

describe('a slow client', () => {
  it('is not sent redacted content from memory', async () => {
    const filling = 'x'.repeat(150_000);
    const ids = Array.from({ length: 150 }, (_, i) => `groot-${i}`);
    for (let from = 0; from < ids.length; from += 10) {
      await feed.publish(
        ids.slice(from, from + 10).map((id) => document(id, { omschrijving: `geheim ${id} ${filling}` })),
      );
    }
    const socket = await ask('last-event-id: 0\r\n');
    // With the first piece in flight the records have been read; from then on nothing more is read.
    await new Promise((resolve) => socket.once('data', resolve).resume());
    socket.pause();
    await feed.publish([removal('redact', 'Informatieobject', 'groot-149')]);
    let text = '';
    // It is disconnected, and resumes from its position. On a slow machine the redaction may come before the last records are read; then
    // the stream stays connected to the end, and its client asks for the redaction once more.
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.setEncoding('utf8').on('data', (piece: string) => {
        text = (text + piece).slice(-1_000_000);
        if (/^id: 171$/m.test(text.slice(-5000))) resolve();
      });
      socket.resume();
    });
    socket.destroy();
    expect(text.includes('geheim groot-149')).toBe(false);
    const last = Math.min(Number(text.match(/(?<=^id: )\d+$/gm)?.at(-1) ?? 0), 170);
    const again = await openStream(`${feed.mount}/feed/stream`, { 'last-event-id': String(last) });
    expect(again.status).toBe(200);
    await expect.poll(() => again.events.at(-1)?.id, PATIENT).toBe(171);
    expect(again.raw().includes('geheim groot-149')).toBe(false);
    again.close();
  });
});

describe('a client that leaves new records unread', () => {
  it('is disconnected by a redaction, and does not get that content when it returns', async () => {
    const filling = 'x'.repeat(150_000);
    const socket = await ask();
    await new Promise((resolve) => socket.once('data', resolve).resume());
    socket.pause();
    const ids = Array.from({ length: 100 }, (_, i) => `live-${i}`);
    for (let from = 0; from < ids.length; from += 10) {
      await feed.publish(
        ids.slice(from, from + 10).map((id) => document(id, { omschrijving: `geheim ${id} ${filling}` })),
      );
    }
    await feed.publish([removal('redact', 'Informatieobject', 'live-99')]);
    // Time enough for every instance to be notified.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text = (text + piece).slice(-1_000_000);
    });
    await new Promise((resolve) => socket.once('close', resolve).resume());
    expect(text.includes('geheim live-99')).toBe(false);
  });
});

describe('a stream that catches up while its history is pruned', () => {
  it('is disconnected, and its client has to start over', async () => {
    const pruned = await startFeed();
    const twice = ['eerst', 'daarna'].map((locatie) =>
      Array.from({ length: 10 }, (_, i) => vergadering(`v-${i}`, { locatie })),
    );
    for (const lines of twice) await pruned.publish(lines);
    const socket = await withLock(pruned.databaseUrl, 'raadsfeed.texts', async (client) => {
      const asked = await ask('last-event-id: 2\r\n', pruned);
      await expect.poll(() => client.waiting(), PATIENT).toBe(1);
      await client.query(pruneTo(5));
      return asked;
    });
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    await new Promise((resolve) => socket.once('close', resolve).resume());
    expect(text).not.toContain('id: ');
    const again = await pruned.api.call('GET', '/feed/stream', { headers: { 'last-event-id': '2' } });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('/snapshot')]);
    await pruned.stop();
  });
});
