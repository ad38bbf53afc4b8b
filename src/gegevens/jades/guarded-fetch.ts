// The only way out of this library: a request to an address that a trusted issuer wrote into a certificate.
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request as undiciRequest } from 'undici';
import { isPublicAddress } from './address-guard.ts';
import type { Fetch, FetchRequest } from './fetch.ts';

const maxRedirects = 2;
const connectTimeoutMs = 2_000;

type Resolve = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

export interface GuardedFetchOptions {
  /** Lets loopback, link-local and private addresses through. */
  readonly allowPrivate: boolean;
  /** Finds the addresses of a host; the system's resolver unless given. */
  readonly resolve?: Resolve;
  /** Makes the connections by way of a proxy; direct unless given. */
  readonly proxied?: ((options: Agent.Options) => Dispatcher) | undefined;
}

/** A fetch with its connections, which `close` ends. */
export interface GuardedFetch {
  readonly fetch: Fetch;
  close(): Promise<void>;
}

/**
 * Fetches over http and https only, with limits on time and size, at most two redirects, all on the same host. The address
 * is judged when the connection is made, so a name that resolves differently the second time does not help. Where a proxy makes
 * the connection the target is judged before it is asked; a name that only the proxy can resolve is left to its rules.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const resolve: Resolve = options.resolve ?? ((host, done) => systemLookup(host, { all: true }, done));
  const isAllowed = (address: string): boolean => options.allowPrivate || isPublicAddress(address);
  const connections: Agent.Options = {
    connect: { lookup: guardedLookup(resolve, isAllowed), timeout: connectTimeoutMs },
    connections: 4,
    keepAliveTimeout: 4_000,
  };
  const agent = options.proxied === undefined ? new Agent(connections) : options.proxied(connections);
  const judge = async (url: URL): Promise<void> => {
    if (options.proxied !== undefined) await checkName(hostOf(url), resolve, isAllowed);
  };

  const fetch: Fetch = async (request) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
    let url = checkUrl(new URL(request.url), isAllowed);
    for (let redirects = 0; ; redirects += 1) {
      await judge(url);
      const answer = await send(agent, url, request, signal);
      const location = redirection(answer);
      if (location === undefined) return readBody(answer, request.maxBytes);
      await answer.body.dump({ limit: 1024, signal });
      if (redirects === maxRedirects) throw new Error('too many redirects');
      const next = checkUrl(new URL(location, url), isAllowed);
      if (!isSameHost(url, next)) throw new Error('a redirect to another host');
      url = next;
    }
  };
  return { fetch, close: () => agent.destroy() };
}

function send(
  agent: Dispatcher,
  url: URL,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const contentType = request.contentType === undefined ? {} : { 'content-type': request.contentType };
  return undiciRequest(url, {
    dispatcher: agent,
    method: request.method,
    headers: { accept: '*/*', ...contentType },
    body: request.body ?? null,
    signal,
  });
}

/** A literal address is never looked up, so it is judged here. */
function checkUrl(url: URL, isAllowed: (address: string) => boolean): URL {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(`scheme ${url.protocol} is not allowed`);
  if (url.username !== '' || url.password !== '') throw new Error('credentials in an address');
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isAllowed(host)) throw new Error(`address ${host} is not public`);
  return url;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Judges the addresses of a host that somebody else will connect to. */
function checkName(host: string, resolve: Resolve, isAllowed: (address: string) => boolean): Promise<void> {
  return new Promise((done, refuse) => {
    if (isIP(host) !== 0) return done();
    resolve(host, (error, addresses) => {
      const isInner = error === null && !addresses.every(({ address }) => isAllowed(address));
      if (isInner) refuse(new Error(`${host} has an address that is not public`));
      else done();
    });
  });
}

/** The same name, and the same port or the scheme's own. */
function isSameHost(from: URL, to: URL): boolean {
  return from.host === to.host;
}

function redirection(answer: Dispatcher.ResponseData): string | undefined {
  const { location } = answer.headers;
  if (![301, 302, 303, 307, 308].includes(answer.statusCode)) return undefined;
  return typeof location === 'string' ? location : undefined;
}

async function readBody(answer: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  // Destroying a body that was not read to its end makes it emit an error, after its reader has gone.
  answer.body.on('error', () => undefined);
  let size = Number(answer.headers['content-length'] ?? 0);
  try {
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    if (size > maxBytes) throw new Error('the answer is too large');
    size = 0;
    for await (const piece of answer.body) {
      if (!(piece instanceof Uint8Array)) throw new Error('the answer is not made of bytes');
      size += piece.length;
      if (size > maxBytes) throw new Error('the answer is too large');
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } finally {
    answer.body.destroy();
  }
}

function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (host, options, done) => {
    resolve(host, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      // One inner address among the others would be reached when the others do not answer.
      if (first === undefined || !addresses.every(({ address }) => isAllowed(address))) {
        return done(new Error(`${host} has an address that is not public`), []);
      }
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}
