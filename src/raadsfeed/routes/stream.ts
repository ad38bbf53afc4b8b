import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import type { Contract, RequestOf } from '../../plugins/contract.ts';
import { clientAddress } from '../../plugins/headers.ts';
import { createOpenCounter } from '../../plugins/limits.ts';
import type { Feed } from '../app-feed.ts';
import type { Streams } from '../feed/stream.ts';
import { raadsfeedProblems } from '../problems.ts';
import { readAfter, readFilter } from '../store/records.ts';
import { assertInFeed, resolveCursor, resolveNumber } from './feed.ts';

const RETRY_SECONDS = '30';
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // nginx would otherwise keep events back until its buffer is full.
  'x-accel-buffering': 'no',
};

type StreamRequest = RequestOf<operations['getFeedStream']>;

/** `GET /feed/stream`: the records after a position, then new ones as they come. */
export function streamRoute(app: FastifyInstance, contract: Contract<operations>, streams: Streams): void {
  const settings = app.settings.raadsfeed;
  let open = 0;
  const perAddress = createOpenCounter(settings.streamMaxPerAddress);

  contract.serve(app, 'getFeedStream', { beforeValidation: takeLastEventId }, async (request, reply) => {
    if (open >= settings.streamMax || app.stopping.aborted) {
      throw new Problem(raadsfeedProblems.tooManyStreams, { headers: { 'retry-after': RETRY_SECONDS } });
    }
    // A connection that is already closed emits no `close` event.
    if (reply.raw.destroyed) return reply.hijack();
    const client = clientAddress(request);
    perAddress(client, request);
    // Counted before the first `await`, or concurrent requests would all pass; until the exchange ends, with a stream or not.
    open += 1;
    reply.raw.once('close', () => {
      open -= 1;
    });
    const position = await findStart(request, app.feed);
    reply.headers(STREAM_HEADERS);
    if (reply.raw.destroyed) return reply.hijack();
    if (request.method === 'HEAD') {
      // Fastify would give it a `Content-Length` of zero.
      hijack(reply).end();
      return reply;
    }
    streams.open(hijack(reply), { position, client, filter: readFilter(request.query) });
    return reply;
  });
}

const LAST_EVENT_ID = 'last-event-id';

/** Polyfills of `EventSource` that cannot set a header resume with a parameter of the query; the header wins. */
function takeLastEventId({ headers, query }: FastifyRequest): undefined {
  if (!isRecord(query)) return;
  for (const name of ['lastEventId', 'Last-Event-ID']) {
    const value = query[name];
    if (typeof value !== 'string') continue;
    headers[LAST_EVENT_ID] ??= value;
    delete query[name];
  }
}

/** After `Last-Event-ID`, else after `cursor`, else at the head. */
async function findStart(request: StreamRequest, { stateCache }: Feed): Promise<number> {
  const lastEventId = request.headers[LAST_EVENT_ID];
  if (lastEventId !== undefined) {
    const number = Number(lastEventId);
    await resolveNumber(stateCache, number, 'Last-Event-ID');
    return number;
  }
  const { cursor } = request.query;
  if (cursor === undefined) return (await stateCache.current()).head.sequenceNumber;
  const { position } = await resolveCursor(stateCache, cursor);
  const { sequenceNumber } = position;
  const { state, epoch } = await stateCache.read((db) => readAfter(db, sequenceNumber, 1, {}));
  assertInFeed(state, position, epoch);
  return sequenceNumber;
}

/** Takes the response over from Fastify, with the headers that its hooks have set. */
function hijack(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack();
  // Silent until something is published; the stream itself cuts clients that do not read.
  reply.raw.setTimeout(0);
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  return reply.raw.writeHead(200);
}
