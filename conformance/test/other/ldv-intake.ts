/** A second intake of log lines, as small as possible: written from the texts alone, JSON only, with only the standard library. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';

type Json = Record<string, unknown>;

const MOST_BYTES = 20 * 2 ** 20;
const DAY_NS = 86_400_000_000_000n;
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Ends a call with an answer. */
class Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The members of a list; empty when absent. */
function listOf(value: unknown): Json[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || !value.every(isJson)) throw new Refusal(400, 'a list was expected');
  return value;
}

function faultOf(span: Json): string | undefined {
  const { traceId, spanId, startTimeUnixNano, endTimeUnixNano, attributes } = span;
  if (!/^(?!0+$)[0-9a-f]{32}$/i.test(String(traceId)) || !/^(?!0+$)[0-9a-f]{16}$/i.test(String(spanId)))
    return 'invalid ids';
  const [start, end] = [startTimeUnixNano, endTimeUnixNano].map((time) => BigInt(String(time ?? 0)));
  if (start === undefined || end === undefined || end < start) return 'it ends before it begins';
  if (end > BigInt(Date.now()) * 1_000_000n + DAY_NS) return 'it is in the future';
  const activity = listOf(attributes).find(({ key }) => key === 'dpl.core.processing_activity_id');
  return activity === undefined ? 'no processing activity' : undefined;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
    throw new Refusal(415, 'only JSON is accepted');
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'gzip' && encoding !== 'identity') throw new Refusal(415, 'only gzip is accepted');
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const sent = Buffer.concat(pieces);
  try {
    const plain = encoding === 'gzip' ? gunzipSync(sent, { maxOutputLength: MOST_BYTES }) : sent;
    return JSON.parse(plain.toString());
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(413, 'too large');
    throw new Refusal(400, 'it cannot be read');
  }
}

/**
 * @param tokens those that may log
 * @returns its address, and a function that stops it
 */
export async function startOtherIntake(tokens: readonly string[]): Promise<{ url: string; stop: () => Promise<void> }> {
  const answer = async (request: IncomingMessage): Promise<Json> => {
    if (request.url !== '/v1/traces') throw new Refusal(404, 'not found');
    if (request.method !== 'POST') throw new Refusal(405, 'only POST', { allow: 'POST' });
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (!tokens.includes(token)) throw new Refusal(401, 'no valid token', { 'www-authenticate': 'Bearer' });
    const body = await bodyOf(request);
    if (!isJson(body)) throw new Refusal(400, 'an object was expected');
    const spans = listOf(body.resourceSpans)
      .flatMap(({ scopeSpans }) => listOf(scopeSpans))
      .flatMap((scope) => listOf(scope.spans));
    const faults = spans.flatMap((span) => faultOf(span) ?? []);
    // The texts allow a warning, and do not say that a request succeeds when nothing of it is accepted.
    if (faults.length === 0)
      return { partialSuccess: { rejectedSpans: '0', errorMessage: 'lines are kept for a day' } };
    if (faults.length === spans.length) throw new Refusal(400, faults[0] ?? '');
    return { partialSuccess: { rejectedSpans: String(faults.length), errorMessage: faults[0] } };
  };
  const server = createServer((request, response) => {
    const reply = (status: number, headers: Record<string, string>, body: Json): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    answer(request).then(
      (body) => reply(200, {}, body),
      (error: unknown) => {
        if (error instanceof Refusal) reply(error.status, error.headers, { code: 3, message: error.message });
        else reply(500, {}, { code: 13, message: 'it failed' });
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the intake has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
