/** Our own service behind a proxy that breaks one of its rules. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { Agent, request as send } from 'undici';
import { headerValue } from '../../src/lib/outbound/guarded-fetch.ts';
import type { MutantRuns } from './run-mutants.ts';

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

/** Overrides for the forwarded request; absent members are unchanged. */
interface Forwarded {
  readonly path?: string;
  readonly method?: string;
  /** Undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Buffer;
}

/** Changes an answer, or the request before it is forwarded. */
export interface Mutation {
  /** Done before the request is forwarded. */
  readonly before?: (request: Request) => Promise<void>;
  readonly forward?: (request: Request) => Forwarded | undefined | Promise<Forwarded | undefined>;
  readonly answer?: (answer: Answer, request: Request) => void | Promise<void>;
  /** Changes the text of the stream. */
  readonly stream?: (text: string, request: Request) => string;
  readonly streamHeaders?: Record<string, string>;
  /** Host name in the address, instead of 127.0.0.1. */
  readonly host?: string;
}

export interface BreakingProxy {
  readonly url: string;
  mutate(mutation: Mutation): void;
  stop(): Promise<void>;
}

/** @param target address of the service; addresses in answers become the proxy's */
export async function startProxy(target: string): Promise<BreakingProxy> {
  let current: Mutation = {};
  const dispatcher = new Agent();
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
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...rest } = incoming.headers;
    const headers = Object.fromEntries(
      Object.entries({ ...rest, ...changed?.headers }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      ),
    );
    const forwardedBody = changed?.body ?? request.body;
    const ending = new AbortController();
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) ending.abort();
    });
    const received = await send(`${origin}${forwarded}`, {
      method: changed?.method ?? request.method,
      headers,
      dispatcher,
      signal: ending.signal,
      ...(forwardedBody.length === 0 ? {} : { body: forwardedBody }),
    });
    const kept = Object.entries(received.headers).flatMap(([name, values]): [string, string][] =>
      ['content-length', 'transfer-encoding', 'connection', 'keep-alive'].includes(name) || values === undefined
        ? []
        : [[name, [values].flat().join(', ')]],
    );
    const type = headerValue(received.headers['content-type']) ?? '';
    if (type.startsWith('text/event-stream')) {
      outgoing.writeHead(received.statusCode, { ...Object.fromEntries(kept), ...current.streamHeaders });
      const decoder = new TextDecoder();
      for await (const piece of received.body) {
        const text = decoder.decode(piece, { stream: true });
        outgoing.write(localized(current.stream?.(text, request) ?? text));
      }
      outgoing.end();
      return;
    }
    const packing = headerValue(received.headers['content-encoding']);
    const bytes = Buffer.from(await received.body.arrayBuffer());
    // A body that is not text keeps its bytes.
    const encoding = type.includes('protobuf') ? 'latin1' : 'utf8';
    const text = localized(unpacked(bytes, packing).toString(encoding));
    const isJson = /json/.test(type);
    const mutated: Answer = {
      status: received.statusCode,
      headers: Object.fromEntries(kept.map(([name, value]) => [name, localized(value)])),
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
      body: text,
    };
    delete mutated.headers['content-encoding'];
    await current.answer?.(mutated, request);
    const body = mutated.json === undefined ? mutated.body : JSON.stringify(mutated.json);
    if (packing !== undefined && request.method === 'GET' && mutated.status === 200) {
      outgoing.writeHead(mutated.status, { ...mutated.headers, 'content-encoding': 'gzip' });
      outgoing.end(gzipSync(body));
      return;
    }
    outgoing.writeHead(mutated.status, mutated.headers);
    // Node itself writes no body to HEAD and 304.
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
      await dispatcher.destroy();
    },
  };
}

interface Behind {
  /** Address of the service. */
  readonly target: string;
  /** Runs the cases against the proxy. */
  readonly run: (url: string, isWanted: (id: string) => boolean) => ReturnType<MutantRuns<Mutation>['run']>;
  /** Stops the service. */
  readonly close: () => Promise<void>;
}

/** Mutants that a proxy makes of one service. */
export async function behindProxy({ target, run, close }: Behind): Promise<MutantRuns<Mutation>> {
  const proxy = await startProxy(target);
  return {
    run: (mutation = {}, isWanted) => {
      proxy.mutate(mutation);
      return run(proxy.url, isWanted);
    },
    async close() {
      await proxy.stop();
      await close();
    },
  };
}

const UNPACK: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
  deflate: (bytes) => inflateSync(bytes),
};

function unpacked(bytes: Buffer, packing: string | undefined): Buffer {
  // HEAD answers have none.
  return packing === undefined || bytes.length === 0 ? bytes : (UNPACK[packing]?.(bytes) ?? bytes);
}
