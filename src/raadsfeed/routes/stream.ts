import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from '../../http/client-address.ts';
import type { Contract } from '../../http/contract.ts';
import { createOpenCounter } from '../../http/open-counter.ts';
import { Problem } from '../../kernel/problem.ts';
import { checkMark, findPlace, within } from '../find-place.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { raadsfeedProblems } from '../problems.ts';
import { follow } from '../stream/follow.ts';
import type { Hub } from '../stream/hub.ts';
import { openStream } from '../stream/open-stream.ts';
import { type ListQuerystring, readPageQuery } from './query.ts';

const RETRY_SECONDS = '30';
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // nginx would otherwise keep events back until its buffer is full.
  'x-accel-buffering': 'no',
};

type StreamRequest = FastifyRequest<{ Querystring: ListQuerystring }>;

/** `GET /feed/stream`: what is there after a place, then what comes. */
export function streamRoute(app: FastifyInstance, contract: Contract, parts: RaadsfeedParts, hub: Hub): void {
  const { db, settings, state, mountUrl, log } = parts;
  let open = 0;
  const perAddress = createOpenCounter(settings.streamMaxPerAddress);

  contract.serve<{ Querystring: ListQuerystring }>(app, 'getFeedStream', {}, async (request, reply) => {
    if (open >= settings.streamMax || parts.stopping.aborted) {
      throw new Problem(raadsfeedProblems.tooManyStreams, { headers: { 'retry-after': RETRY_SECONDS } });
    }
    // To who has gone the end of the exchange is never told again.
    if (reply.raw.destroyed) return reply.hijack();
    perAddress.open(clientAddress(request), reply);
    // Counted before the first wait, or many at once would all pass; given back however the exchange ends, a stream or not.
    open += 1;
    reply.raw.once('close', () => {
      open -= 1;
    });
    const position = await findStart(request, parts);
    reply.headers(STREAM_HEADERS);
    if (request.method === 'HEAD') return reply.send();
    if (reply.raw.destroyed) return reply.hijack();
    const { organisatiecode, resourceType } = readPageQuery(request);
    const opened = openStream(hijack(reply), {
      filter: { organisatiecode, resourceType },
      position,
      bufferBytes: settings.streamBufferBytes,
      drainTimeoutMs: settings.streamDrainSeconds * 1000,
      onEnd: hub.leave,
      stopping: parts.stopping,
    });
    follow(opened.stream, { db, state, hub, mountUrl, drained: opened.drained, ended: opened.ended }).catch(
      (error: unknown) => {
        log.warn({ err: error }, 'a stream was cut off: its records could not be read');
        opened.cut();
      },
    );
    return reply;
  });
}

/** After `Last-Event-ID`, else after `cursor`, else at the head. */
async function findStart(request: StreamRequest, { db, state }: RaadsfeedParts): Promise<number> {
  const lastEventId = request.headers['last-event-id'];
  if (lastEventId !== undefined) {
    const number = Number(lastEventId);
    within(await state.current(), number, 'Last-Event-ID');
    return number;
  }
  const { cursor } = request.query;
  if (cursor === undefined) return (await state.current()).head.sequenceNumber;
  const { place, feed } = await findPlace(state, cursor);
  await checkMark(db, feed, place);
  return place.sequenceNumber;
}

/** Takes the answer out of the framework's hands, with the headers that its hooks have set. */
function hijack(reply: FastifyReply): FastifyReply['raw'] {
  reply.hijack();
  // Silent until something is published; the stream itself sees to readers that take nothing.
  reply.raw.setTimeout(0);
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  reply.raw.writeHead(200, Object.fromEntries(headers));
  return reply.raw;
}
