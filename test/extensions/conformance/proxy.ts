/** Our own service behind a proxy that breaks one rule of it. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Of a JSON answer; changed in place, or replaced. */
  json: Record<string, unknown> | undefined;
  body: string;
}

export interface Request {
  readonly method: string;
  /** Path and query, without the mount: `/feed?limit=1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** What is sent on instead; what is absent stays. */
interface Forwarded {
  readonly path?: string;
  readonly method?: string;
  /** Undefined takes one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Buffer;
}

/** Changes an answer, or the request before it is sent on. */
export interface Mutation {
  /** Done before the request is sent on. */
  readonly before?: (request: Request) => Promise<void>;
  readonly forward?: (request: Request) => Forwarded | undefined | Promise<Forwarded | undefined>;
  readonly answer?: (answer: Answer, request: Request) => void | Promise<void>;
  /** Changes the text of the stream. */
  readonly stream?: (text: string, request: Request) => string;
  readonly streamHeaders?: Record<string, string>;
  /** Instead of 127.0.0.1, in the address. */
  readonly host?: string;
}

export interface BreakingProxy {
  readonly url: string;
  mutate(mutation: Mutation): void;
  stop(): Promise<void>;
}

/** @param target address of what is served; addresses in answers become those of the proxy */
export async function startProxy(target: string): Promise<BreakingProxy> {
  let current: Mutation = {};
  const { origin, pathname: mount } = new URL(target);
  let own = '';
  const localized = (text: string): string => text.replaceAll(origin, own);

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const whole = incoming.url ?? '/';
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const path = whole.startsWith(mount) ? whole.slice(mount.length) : whole;
    const request = {
      method: incoming.method ?? 'GET',
      path,
      query: new URL(whole, own).searchParams,
      headers: incoming.headers,
      body: Buffer.concat(pieces),
    };
    await current.before?.(request);
    const changed = await current.forward?.(request);
    const forwarded = changed?.path === undefined ? whole : `${mount}${changed.path}`;
    const { host: _, connection: __, 'content-length': ___, ...rest } = incoming.headers;
    const headers = Object.fromEntries(
      Object.entries({ ...rest, ...changed?.headers }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      ),
    );
    const forwardedBody = changed?.body ?? request.body;
    // Compressed by the proxy's mutation alone: a browser's fetch decompresses.
    const ending = new AbortController();
    outgoing.on('close', () => ending.abort());
    const received = await fetch(`${origin}${forwarded}`, {
      method: changed?.method ?? request.method,
      headers,
      ...(forwardedBody.length === 0 ? {} : { body: new Uint8Array(forwardedBody) }),
      redirect: 'manual',
      signal: ending.signal,
    });
    const kept = [...received.headers].filter(
      ([name]) => !['content-length', 'transfer-encoding', 'connection', 'keep-alive'].includes(name),
    );
    if (received.headers.get('content-type')?.startsWith('text/event-stream')) {
      outgoing.writeHead(received.status, { ...Object.fromEntries(kept), ...current.streamHeaders });
      const decoder = new TextDecoder();
      for await (const piece of received.body ?? []) {
        const text = decoder.decode(piece, { stream: true });
        outgoing.write(localized(current.stream?.(text, request) ?? text));
      }
      outgoing.end();
      return;
    }
    const wasPacked = received.headers.get('content-encoding') !== null;
    // A body that is not text keeps its bytes.
    const encoding = received.headers.get('content-type')?.includes('protobuf') ? 'latin1' : 'utf8';
    const text = localized(Buffer.from(await received.arrayBuffer()).toString(encoding));
    const isJson = /json/.test(received.headers.get('content-type') ?? '');
    const mutated: Answer = {
      status: received.status,
      headers: Object.fromEntries(kept.map(([name, value]) => [name, localized(value)])),
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
      body: text,
    };
    delete mutated.headers['content-encoding'];
    await current.answer?.(mutated, request);
    const body = mutated.json === undefined ? mutated.body : JSON.stringify(mutated.json);
    if (wasPacked && request.method === 'GET' && mutated.status === 200) {
      const { gzipSync } = await import('node:zlib');
      outgoing.writeHead(mutated.status, { ...mutated.headers, 'content-encoding': 'gzip' });
      outgoing.end(gzipSync(body));
      return;
    }
    outgoing.writeHead(mutated.status, mutated.headers);
    // Node writes no body to HEAD and 304 itself.
    outgoing.end(body, mutated.json === undefined ? encoding : 'utf8');
  };

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  own = `http://127.0.0.1:${port}`;
  return {
    get url() {
      return `${own.replace('127.0.0.1', current.host ?? '127.0.0.1')}${mount}`;
    },
    mutate: (mutation) => {
      current = mutation;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
