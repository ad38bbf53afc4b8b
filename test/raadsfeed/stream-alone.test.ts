/** A stream that catches up while no other is open, and a redaction of something just sent to it. */
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Listener } from '../../src/database/listen.ts';
import { createFeedStateCache, type FeedStateCache } from '../../src/raadsfeed/feed/state-cache.ts';
import { createStreams } from '../../src/raadsfeed/feed/stream.ts';
import { document, type FeedServer, PATIENT, quiet, removal, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed.stop());

/** No notifications: only the poll finds changes. */
const listener: Listener = {
  subscribe: () => () => undefined,
  state: () => 'live',
  close: async () => undefined,
};

it('is disconnected when the system may still be buffering redacted content for its client', async () => {
  await feed.publish(Array.from({ length: 250 }, (_, i) => vergadering(`v-${i}`)));
  const real = createFeedStateCache({ db: feed.pool, listener, log: quiet });
  const from = (await real.current()).head.sequenceNumber - 250;
  let waiting = false;
  let reads = 0;
  // Its second catch-up part takes long; new records are read at the same time.
  const stateCache: FeedStateCache = {
    ...real,
    async read(query) {
      reads += 1;
      if (reads > 1) {
        waiting = true;
        await new Promise(() => undefined);
      }
      return await real.read(query);
    },
  };
  const streams = createStreams({
    stateCache,
    log: quiet,
    stopping: new AbortController().signal,
    mountUrl: () => feed.mount,
    heartbeatSeconds: 15,
    memoryBytes: 64_000_000,
    drainTimeoutMs: 600_000,
  });
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    streams.open(response, { position: from, filter: {}, client: '127.0.0.1' });
  });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const { port } = address;
    const incoming = await new Promise<IncomingMessage>((resolve) => {
      get({ port, host: '127.0.0.1' }, resolve).on('error', () => undefined);
    });
    let ended = false;
    incoming.resume().on('error', () => undefined);
    incoming.on('close', () => {
      ended = true;
    });
    await expect.poll(() => waiting, PATIENT).toBe(true);
    await feed.publish([removal('redact', 'Vergadering', 'v-0')]);
    await expect.poll(() => ended).toBe(true);
  } finally {
    streams.close();
    stateCache.close();
    server.closeAllConnections();
    server.close();
  }
});

it('reads new records once, whatever the filters of the streams', async () => {
  const real = createFeedStateCache({ db: feed.pool, listener, log: quiet });
  let reads = 0;
  const stateCache: FeedStateCache = {
    ...real,
    read(query) {
      reads += 1;
      return real.read(query);
    },
  };
  const streams = createStreams({
    stateCache,
    log: quiet,
    stopping: new AbortController().signal,
    mountUrl: () => feed.mount,
    heartbeatSeconds: 15,
    memoryBytes: 64_000_000,
    drainTimeoutMs: 600_000,
  });
  const position = (await real.current()).head.sequenceNumber;
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const filter = { organisatiecode: url.slice(1), resourceType: 'Vergadering' } as const;
    streams.open(response, { position, filter, client: '127.0.0.1' });
  });
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const texts = await Promise.all(
      ['gm9901', ...Array.from({ length: 30 }, (_, i) => `gm${1000 + i}`)].map(async (code) => {
        const incoming = await new Promise<IncomingMessage>((resolve) => {
          get({ port: address.port, host: '127.0.0.1', path: `/${code}` }, resolve).on('error', () => undefined);
        });
        const text: string[] = [];
        incoming.on('data', (piece: Buffer) => text.push(piece.toString())).on('error', () => undefined);
        return { code, text };
      }),
    );
    await expect.poll(() => streams.count(), PATIENT).toBe(31);
    await feed.publish([vergadering('nieuw'), document('ander')]);
    await expect.poll(() => texts[0]?.text.join(''), PATIENT).toContain('nieuw');
    // Time enough for the others.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(reads).toBeLessThan(5);
    expect(texts.map(({ text }) => text.join('').match(/^id: /gm)?.length ?? 0)).toEqual([1, ...Array(30).fill(0)]);
  } finally {
    streams.close();
    stateCache.close();
    server.closeAllConnections();
    server.close();
  }
});
