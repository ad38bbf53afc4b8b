import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answer } from './answer.ts';
import type { Raw } from './answers.ts';
import { NotubizOrganisation } from './organisation.ts';

export interface NotubizCall {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** What the supplier does instead of answering. */
export type Misbehaviour =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** Never answers. */
  | 'hang'
  /** Closes the connection at once. */
  | 'reset'
  /** Closes it in the middle of the body. */
  | 'half';

export type Rule = (call: NotubizCall, times: number) => Misbehaviour | undefined;

/** A supplier in the form of the NotuBiz API, on loopback, that misbehaves the way a test wants. */
export interface NotubizServer {
  readonly base: string;
  readonly organisation: NotubizOrganisation;
  readonly calls: NotubizCall[];
  /** The most calls that were being answered at once. */
  readonly mostAtOnce: () => number;
  /** Milliseconds that each answer takes, so that calls overlap. */
  delay: number;
  gzip: boolean;
  perPage: number;
  rule: Rule | undefined;
  /** How often a path was called. */
  readonly count: (path: string) => number;
  readonly add: (organisation: NotubizOrganisation) => void;
  readonly close: () => Promise<void>;
}

export async function startNotubiz(): Promise<NotubizServer> {
  const organisation = new NotubizOrganisation();
  const organisations = new Map([[String(organisation.id), organisation]]);
  const calls: NotubizCall[] = [];
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
    setTimeout(() => reply(call, times, response), supplier.delay);
  });
  const reply = (call: NotubizCall, times: number, response: ServerResponse): void => {
    const odd = supplier.rule?.(call, times);
    if (odd === 'hang') return;
    if (odd === 'reset') {
      response.destroy();
      return;
    }
    const {
      status,
      body,
      headers = {},
    } = typeof odd === 'object' ? odd : answer(call, organisations, supplier.perPage);
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
    const bytes = supplier.gzip ? gzipSync(text) : Buffer.from(text);
    const encoding: Record<string, string> = supplier.gzip ? { 'content-encoding': 'gzip' } : {};
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const supplier: NotubizServer = {
    base: `http://127.0.0.1:${address.port}`,
    organisation,
    calls,
    mostAtOnce: () => most,
    delay: 0,
    gzip: false,
    perPage: 200,
    rule: undefined,
    count: (path) => calls.filter((call) => call.path === path).length,
    add: (other) => void organisations.set(String(other.id), other),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return supplier;
}

function readCall(request: IncomingMessage): NotubizCall {
  const url = new URL(request.url ?? '/', 'http://supplier');
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) };
}

/** The answer of the supplier for a wide window that it cannot serve. */
export const UNCAUGHT: Misbehaviour = {
  status: 404,
  body: { message: 'An uncaught error has occurred' } satisfies Raw,
};
/** Status 200, and yet nothing. */
export const NO_RIGHTS: Misbehaviour = {
  status: 200,
  body: { message: 'No rights to see this meeting', error_code: 45624584670 } satisfies Raw,
};
