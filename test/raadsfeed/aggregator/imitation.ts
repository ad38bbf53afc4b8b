/** A server in the form of a supplier, on loopback, that misbehaves as a test requires. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

export interface ImitationCall {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Misbehaviour instead of an answer. */
export type Misbehaviour =
  | Answer
  /** Never answers. */
  | 'hang'
  /** Closes the connection at once. */
  | 'reset'
  /** Closes it in the middle of the body. */
  | 'half';

export type Rule = (call: ImitationCall, times: number) => Misbehaviour | undefined;

export interface Imitation {
  readonly base: string;
  readonly calls: ImitationCall[];
  /** The largest number of concurrent calls. */
  readonly mostAtOnce: () => number;
  /** Milliseconds per answer, so that calls overlap. */
  delay: number;
  gzip: boolean;
  rule: Rule | undefined;
  /** A promise that answers wait for. */
  before: ((call: ImitationCall) => Promise<unknown>) | undefined;
  /** Number of calls to a path. */
  readonly count: (path: string) => number;
  readonly close: () => Promise<void>;
}

/** @param answer the supplier's answer when it behaves */
export async function startImitation(answer: (call: ImitationCall) => Answer): Promise<Imitation> {
  const calls: ImitationCall[] = [];
  const counts = new Map<string, number>();
  let running = 0;
  let most = 0;
  const server = createServer((request, response) => {
    const call = readCall(request);
    calls.push(call);
    const times = (counts.get(call.path) ?? 0) + 1;
    counts.set(call.path, times);
    running += 1;
    most = Math.max(most, running);
    response.once('close', () => {
      running -= 1;
    });
    setTimeout(async () => {
      await imitation.before?.(call);
      reply(call, times, response);
    }, imitation.delay);
  });
  const reply = (call: ImitationCall, times: number, response: ServerResponse): void => {
    const odd = imitation.rule?.(call, times);
    if (odd === 'hang') return;
    if (odd === 'reset') {
      response.destroy();
      return;
    }
    const { status, body, headers = {} } = typeof odd === 'object' ? odd : answer(call);
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
    const bytes = imitation.gzip ? gzipSync(text) : Buffer.from(text);
    const encoding: Record<string, string> = imitation.gzip ? { 'content-encoding': 'gzip' } : {};
    const length = String(bytes.byteLength);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': length,
      ...encoding,
      ...headers,
    });
    if (odd === 'half') response.write(bytes.subarray(0, bytes.byteLength / 2), () => response.destroy());
    else response.end(bytes);
  };
  // A connection that it closes while a busy test is about to use it would be one more call.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const imitation: Imitation = {
    base: `http://127.0.0.1:${address.port}`,
    calls,
    mostAtOnce: () => most,
    delay: 0,
    gzip: false,
    rule: undefined,
    before: undefined,
    count: (path) => calls.filter((call) => call.path === path).length,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return imitation;
}

function readCall(request: IncomingMessage): ImitationCall {
  const url = new URL(request.url ?? '/', 'http://supplier');
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) };
}
