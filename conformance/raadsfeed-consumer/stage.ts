/** The server that plays the feeds: one local address, with a path per case. */
import { listenOnLoopback } from '../../src/lib/loopback-server.ts';
import { PlayedFeed } from './played-feed.ts';

export type Stage = Awaited<ReturnType<typeof openStage>>;

const FIRST = 9001;

export async function openStage(port: number) {
  const feeds: PlayedFeed[] = [];
  const { server, address, close } = await listenOnLoopback(port);
  server.on('request', (request, response) => {
    // The rest of an answer is useless when the consumer disconnects.
    response.on('error', () => undefined);
    const [, code = '', path = ''] = /^\/(\w+)\/ori\/v1(\/[^?]*)?/.exec(request.url ?? '') ?? [];
    const feed = feeds.find(({ organisatiecode }) => organisatiecode === code);
    const query = new URLSearchParams(request.url?.split('?')[1] ?? '');
    if (feed === undefined) response.writeHead(404).end();
    else feed.handle(path === '' ? '/' : path, query, request, response);
  });
  return {
    ...{ feeds, close },
    /** A feed with its own organisation; the first one is gm9001. */
    open(): PlayedFeed {
      const code = `gm${FIRST + feeds.length}`;
      const feed = new PlayedFeed(code, `${address}/${code}/ori/v1`);
      feeds.push(feed);
      return feed;
    },
  };
}
