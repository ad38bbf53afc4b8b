// Calls to addresses that came from outside: which may be called, through which proxy, where a redirect may lead, and how much is read. The address
// is checked when the connection is made, so a name that resolves differently the second time does not help. When a proxy makes the connection, the
// target is checked beforehand.
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request as undiciRequest } from 'undici';
import type { FetchRequest } from '../jades/revocation.ts';
import { type JsonCounter, UntrustedJsonError } from '../json/parse-untrusted.ts';
import { OutboundError } from './outbound-error.ts';

const MAX_REDIRECTS = 2;
const CONNECT_TIMEOUT_MS = 2_000;

interface AddressRules {
  /** Allows loopback and private addresses; never link-local ones, nor those of a cloud's metadata service. */
  readonly allowPrivate: boolean;
  readonly resolve?: Resolve;
}

/** A block list also checks the IPv4 address within a mapped IPv6 address. */
function blockList(...networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** IANA's special-purpose registries, and 6to4, which holds an IPv4 address. */
const reserved = blockList(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/3', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
);
const global = blockList('2000::/3');

/** Whether an IP address is on the public internet: no loopback, link-local, private, reserved or embedded IPv4 address. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !reserved.check(address, 'ipv4');
  return global.check(address, 'ipv6') && !reserved.check(address, 'ipv6');
}

// Never called, whatever is allowed: link-local addresses (RFC 3927, RFC 4291 section 2.5.6) reach the machine's own network, cloud metadata services
// give out its credentials, and IPv6 addresses with an IPv4 address in them (compatible, translated, 6to4) may be either.
const never = blockList(
  ...['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32', 'fe80::/10'],
  ...['fd00:ec2::254/128', 'fd20:ce::254/128', 'fd00:42::42/128', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16'],
);
const compatible = blockList('::/96');

/** Whether an IP address is link-local or of a cloud's metadata service, or may be translated to one. */
export function isForbiddenAddress(address: string): boolean {
  const bare = address.replace(/%.*/, '');
  if (!isIPv6(bare)) return never.check(bare, 'ipv4');
  return never.check(bare, 'ipv6') || (compatible.check(bare, 'ipv6') && !/^(::1?|0:0:0:0:0:0:0:[01])$/.test(bare));
}

/** Checks an address. A literal IP address is never looked up, so it is checked here. @throws {OutboundError} `address` */
function checkUrl(text: string, rules: AddressRules): URL {
  const url = URL.parse(text);
  if (url === null) throw new OutboundError('address', 'not an address');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('address', `scheme ${url.protocol} is not called`);
  }
  if (url.username !== '' || url.password !== '') throw new OutboundError('address', 'credentials in an address');
  const host = hostOf(url);
  if (isIP(host) !== 0) assertCallable(host, host, rules);
  return url;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function assertCallable(address: string, host: string, { allowPrivate }: AddressRules): void {
  if (isForbiddenAddress(address)) {
    throw new OutboundError('address', `${host} is link-local or a metadata service, which is never called`);
  }
  if (!allowPrivate && !isPublicAddress(address)) {
    throw new OutboundError('address', `${host} is not a public address`);
  }
}

/** Checks the addresses of a host that a proxy will connect to. A name that only the proxy can resolve is left to the proxy. */
async function assertCallableName(url: URL, rules: AddressRules): Promise<void> {
  const host = hostOf(url);
  const { resolve = systemResolve } = rules;
  const { promise, resolve: done } = Promise.withResolvers<readonly LookupAddress[]>();
  resolve(host, (error, found) => done(error === null ? found : []));
  for (const { address } of await promise) assertCallable(address, host, rules);
}

/** Checks every address of a name: a private one among them would be reached when the others do not answer. */
function guardedLookup(rules: AddressRules): LookupFunction {
  const { resolve = systemResolve } = rules;
  return (host, options, done) => {
    resolve(host, (error, addresses) => {
      if (error !== null) return done(error, []);
      const [first] = addresses;
      try {
        if (first === undefined) throw new OutboundError('address', `${host} has no address`);
        for (const { address } of addresses) assertCallable(address, host, rules);
      } catch (refusal) {
        return done(refusal instanceof Error ? refusal : new OutboundError('address', `${host} is not called`), []);
      }
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

type Resolve = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

const systemResolve: Resolve = (host, done) => lookup(host, { all: true }, done);

export const resolveIpv4: Resolve = (host, done) => lookup(host, { all: true, family: 4 }, done);

export interface ProxySettings {
  /** Address of the forward proxy (secret: it may hold credentials); absent: none. */
  readonly outboundProxy: string | undefined;
  readonly outboundNoProxy: readonly string[];
}

/** Connects directly or through the proxy. @param options of the connections; their `lookup` does not see calls through the proxy */
export function createOutboundAgent(
  { outboundProxy, outboundNoProxy }: ProxySettings,
  options: Agent.Options,
): Dispatcher {
  if (outboundProxy === undefined) return new Agent(options);
  // All are set, because the library would take missing ones from the environment.
  const proxy = { httpProxy: outboundProxy, httpsProxy: outboundProxy, noProxy: outboundNoProxy.join(',') };
  return new EnvHttpProxyAgent({ ...options, ...proxy });
}

export type RedirectPolicy = 'none' | 'same-host' | 'any-host';

interface GuardedConnectionsOptions {
  readonly rules: AddressRules;
  readonly proxy?: ProxySettings | undefined;
  readonly maxRedirects: number;
  readonly connectTimeoutMs: number;
  readonly agent: Omit<Agent.Options, 'connect'>;
}

export function createGuardedConnections(options: GuardedConnectionsOptions) {
  const { rules, maxRedirects, proxy = { outboundProxy: undefined, outboundNoProxy: [] } } = options;
  const dispatcher = createOutboundAgent(proxy, {
    ...options.agent,
    connect: { lookup: guardedLookup(rules), timeout: options.connectTimeoutMs },
  });
  return {
    /** Follows redirects and checks each address like the first. @throws {OutboundError} `address`, `redirect`; errors of the connection */
    async request(
      address: string,
      request: Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'signal'> & { readonly signal: AbortSignal },
      policy: RedirectPolicy,
    ): Promise<{ readonly answer: Dispatcher.ResponseData; readonly url: URL }> {
      let url = checkUrl(address, rules);
      for (let redirects = 0; ; redirects += 1) {
        if (proxy.outboundProxy !== undefined) await assertCallableName(url, rules);
        const answer = await undiciRequest(url, { ...request, dispatcher });
        const location = policy === 'none' ? undefined : redirection(answer);
        if (location === undefined) return { answer, url };
        await answer.body.dump({ limit: 1024, signal: request.signal });
        if (redirects === maxRedirects) throw new OutboundError('redirect', 'too many redirects');
        url = redirected(url, location, policy, rules);
      }
    },
    close: (): Promise<void> => dispatcher.destroy(),
  };
}

function redirection({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? headerValue(headers.location) : undefined;
}

function redirected(from: URL, location: string, policy: RedirectPolicy, rules: AddressRules): URL {
  const target = URL.parse(location, from.href);
  if (target === null) throw new OutboundError('redirect', 'a redirect to no address');
  const to = checkUrl(target.href, rules);
  if (from.protocol === 'https:' && to.protocol !== 'https:') {
    throw new OutboundError('redirect', 'a redirect from https to http');
  }
  // Including the port: another port on the same host is another service.
  if (policy !== 'any-host' && to.host !== from.host) {
    throw new OutboundError('redirect', `a redirect to another host, ${to.host}`);
  }
  return to;
}

export interface GuardedFetchOptions extends AddressRules {
  readonly proxy?: ProxySettings;
}

/** Fetches the bytes of a 200 answer, such as those at an address in a certificate, with at most two redirects on the same host. */
export function createGuardedFetch({ proxy, ...rules }: GuardedFetchOptions) {
  const connections = createGuardedConnections({
    rules,
    proxy,
    maxRedirects: MAX_REDIRECTS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    agent: { connections: 4, keepAliveTimeout: 4_000 },
  });
  return {
    async fetch(request: FetchRequest): Promise<Uint8Array> {
      const { url, method, body = null, contentType, timeoutMs, maxBytes } = request;
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
      const sent = { accept: '*/*', ...(contentType === undefined ? {} : { 'content-type': contentType }) };
      const { answer } = await connections.request(url, { method, headers: sent, body, signal }, 'same-host');
      const { statusCode, headers, body: answered } = answer;
      if (statusCode !== 200) {
        // A body that is destroyed before its end emits an error.
        answered.on('error', () => undefined).destroy();
        throw new Error(`status ${statusCode}`);
      }
      return await readBody(answered, headerValue(headers['content-encoding']), maxBytes).catch((error: unknown) => {
        // An aborted body breaks off; the signal has the reason.
        signal.throwIfAborted();
        throw error;
      });
    },
    close: connections.close,
  };
}

/** The accepted encodings, decompressed piece by piece, so that a bomb is stopped at the limit. */
export const ACCEPT_ENCODING = 'gzip';

/** At most `maxBytes`, both as sent and decompressed, and within the counter's limits. @throws {OutboundError} `too-large`, `encoding`, `broken-off` */
export async function readBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
  counter?: JsonCounter,
): Promise<Buffer> {
  const plain = decompressed(body, encoding?.trim().toLowerCase() ?? 'identity', maxBytes);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of plain) {
      const bytes = Buffer.from(piece);
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      pieces.push(bytes);
      counter?.feed(bytes);
    }
    return Buffer.concat(pieces, size);
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    if (error instanceof UntrustedJsonError) {
      const start = Buffer.concat(pieces, size);
      throw new OutboundError('too-large', `the answer ${error.message}`, { cause: error, start });
    }
    // A truncated body (Z_BUF_ERROR) is an answer that broke off.
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (/^Z_(?!BUF_ERROR)/.test(code))
      throw new OutboundError('encoding', `the answer is not in ${encoding}`, { cause: error });
    throw new OutboundError('broken-off', 'the answer broke off', { cause: error });
  } finally {
    plain.destroy();
    body.destroy();
  }
}

function decompressed(body: Readable, encoding: string, maxBytes: number): Readable {
  // A body that is destroyed before its end emits an error.
  body.on('error', () => undefined);
  if (encoding === 'identity' || encoding === '') return body;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    body.destroy();
    throw new OutboundError('encoding', `content-encoding ${encoding.slice(0, 40)} was not asked for`);
  }
  const inflate = createGunzip();
  // Compressed bytes count too: pieces that expand to nothing could continue forever.
  const limited = async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of pieces) {
      size += piece.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield piece;
    }
  };
  // A reader that stops early destroys both; errors reach it through `inflate`.
  pipeline(body, limited, inflate, () => undefined);
  return inflate;
}

function tooLarge(maxBytes: number): OutboundError {
  return new OutboundError('too-large', `the answer is larger than ${maxBytes} bytes`);
}

export function headerValue(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
