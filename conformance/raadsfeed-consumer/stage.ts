/** The server that plays the feeds: one local address, with a path per case. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { PlayedFeed } from './played-feed.ts';

export type Stage = Awaited<ReturnType<typeof openStage>>;

const FIRST = 9001;

export async function openStage(port: number) {
  const feeds: PlayedFeed[] = [];
  const server = createServer((request, response) => {
    // The rest of an answer is useless when the consumer disconnects.
    response.on('error', () => undefined);
    const [, code = '', path = ''] = /^\/(\w+)\/ori\/v1(\/[^?]*)?/.exec(request.url ?? '') ?? [];
    const feed = feeds.find(({ organisatiecode }) => organisatiecode === code);
    const query = new URLSearchParams(request.url?.split('?')[1] ?? '');
    if (feed === undefined) response.writeHead(404).end();
    else feed.handle(path === '' ? '/' : path, query, request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`;
  return {
    feeds,
    /** A feed with its own organisation; the first one is gm9001. */
    open(): PlayedFeed {
      const code = `gm${FIRST + feeds.length}`;
      const feed = new PlayedFeed(code, `${origin}/${code}/ori/v1`);
      feeds.push(feed);
      return feed;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
