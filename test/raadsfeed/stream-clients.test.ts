/** Third-party clients of server-sent events follow the stream. */
import { execFile, spawnSync } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import process from 'node:process';
import { promisify } from 'node:util';
import { EventSourcePolyfill } from 'event-source-polyfill';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { asPage, type FeedServer, PATIENT, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ 'raadsfeed.streamHeartbeatSeconds': '1' });
  await feed.publish([vergadering('v-1')]);
});
afterAll(() => feed.stop());

/** A proxy that can cut all its connections. */
async function startCuttable(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const heads: string[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.once('data', (head) => heads.push(String(head).split('\r\n')[0] ?? ''));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('it listens on no port');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    heads,
    cut,
    stop: () => {
      cut();
      server.close();
    },
  };
}

it('event-source-polyfill, which resumes with a parameter, misses nothing after a broken connection', async () => {
  const way = await startCuttable(feed.server.url);
  const ids: number[] = [];
  // It reports the broken connection there.
  const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const source = new EventSourcePolyfill(`${way.url}/ori/v1/feed/stream`);
  source.onmessage = ({ lastEventId }) => void ids.push(Number(lastEventId));
  try {
    await expect.poll(() => source.readyState, PATIENT).toBe(source.OPEN);
    await feed.publish([vergadering('v-2')]);
    await expect.poll(() => ids.length, PATIENT).toBe(1);
    way.cut();
    await feed.publish([vergadering('v-3'), vergadering('v-4')]);
    await expect.poll(() => ids.length, PATIENT).toBe(3);
    expect(ids).toEqual([2, 3, 4]);
    expect(way.heads.at(-1)).toContain('lastEventId=2');
  } finally {
    source.close();
    way.stop();
    reported.mockRestore();
  }
});

const python = process.env.SSE_PYTHON ?? 'python3';
const hasHttpx = spawnSync(python, ['-c', 'import httpx_sse']).status === 0;
const READ_THREE = `
import sys, httpx, httpx_sse
with httpx.Client(timeout=60) as client:
    with httpx_sse.connect_sse(client, 'GET', sys.argv[1], headers={'Last-Event-ID': '1'}) as source:
        seen = []
        for event in source.iter_sse():
            seen.append((event.id, event.event, event.data != ''))
            if event.id == sys.argv[2]: break
print(seen)
`;
it.skipIf(!hasHttpx)(
  `httpx-sse sees no empty event between the real ones${hasHttpx ? '' : ' (skipped: python3 has no httpx_sse)'}`,
  async () => {
    await feed.publish([vergadering('p-1')]);
    const { head } = asPage((await feed.api.call('GET', '/feed?limit=1')).json);
    const url = `${feed.mount}/feed/stream`;
    const reading = promisify(execFile)(python, ['-c', READ_THREE, url, String(head + 1)]);
    // Long enough for a comment to pass between two events.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await feed.publish([vergadering('p-2')]);
    const { stdout } = await reading;
    const expected = Array.from({ length: head }, (_, i) => `('${i + 2}', 'message', True)`);
    expect(stdout.trim()).toBe(`[${expected.join(', ')}]`);
  },
);
