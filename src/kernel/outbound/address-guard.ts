/** Connections to other services: which addresses may be called, by way of which proxy, and how a call can fail. */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';
import type { FetchJson } from '../oauth/remote-keys.ts';

export interface AddressRules {
  /** Lets loopback and private addresses through; never link-local ones, nor those of a cloud's metadata service. */
  readonly allowPrivate: boolean;
  /** Finds the addresses of a host; the system's resolver unless given. */
  readonly resolve?: Resolve;
}

// IANA special-purpose registries.
const reserved = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  reserved.addSubnet(network, prefix, 'ipv4');
}

const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');
const reservedV6 = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4 holds an IPv4 address.
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  reservedV6.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address is on the public internet: no loopback, link-local, private, reserved or embedded IPv4 address. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !reserved.check(address, 'ipv4');
  return globalV6.check(address, 'ipv6') && !reservedV6.check(address, 'ipv6');
}

// Never called, whatever is allowed: link-local addresses (RFC 3927, RFC 4291 section 2.5.6) reach the machine's own network, and cloud
// metadata services give out its credentials.
const neverV4 = new BlockList();
neverV4.addSubnet('169.254.0.0', 16, 'ipv4');
for (const metadata of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) neverV4.addAddress(metadata, 'ipv4');
const neverV6 = new BlockList();
neverV6.addSubnet('fe80::', 10, 'ipv6');
for (const metadata of ['fd00:ec2::254', 'fd20:ce::254', 'fd00:42::42']) neverV6.addAddress(metadata, 'ipv6');

/** Whether an IP address is link-local or of a cloud's metadata service, also written as an IPv6 address that holds it. */
export function isForbiddenAddress(address: string): boolean {
  if (!isIPv6(address)) return neverV4.check(address, 'ipv4');
  const bare = address.replace(/%.*$/, '');
  return neverV6.check(bare, 'ipv6') || embeddedV4(bare).some((v4) => neverV4.check(v4, 'ipv4'));
}

/** The IPv4 addresses that an IPv6 address may stand for: mapped, compatible, translated (RFC 6052), 6to4. */
function embeddedV4(address: string): readonly string[] {
  const { hostname } = new URL(`http://[${address}]/`);
  const [head = '', tail = ''] = hostname.slice(1, -1).split('::');
  const [front, back] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const groups = [
    ...(front ?? []),
    ...Array(8 - (front?.length ?? 0) - (back?.length ?? 0)).fill('0'),
    ...(back ?? []),
  ].map((group) => Number.parseInt(group, 16));
  const v4 = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return [v4(groups[6], groups[7]), ...(groups[0] === 0x2002 ? [v4(groups[1], groups[2])] : [])];
}

/** The target of a redirect; undefined for any other answer. */
export function redirection({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? headerValue(headers.location) : undefined;
}

/** @throws {OutboundError} `redirect`, `address` */
export function redirected(
  from: URL,
  location: string,
  policy: 'none' | 'same-host' | 'any-host',
  rules: AddressRules,
): URL {
  if (!URL.canParse(location, from.href)) throw new OutboundError('redirect', 'a redirect to no address');
  const to = checkUrl(new URL(location, from).href, rules);
  if (from.protocol === 'https:' && to.protocol !== 'https:') {
    throw new OutboundError('redirect', 'a redirect from https to http');
  }
  // Including the port: another port on the same host is another service.
  if (policy !== 'any-host' && to.host !== from.host) {
    throw new OutboundError('redirect', `a redirect to another host, ${to.host}`);
  }
  return to;
}

/** Checks an address. A literal IP address is never looked up, so it is judged here. @throws {OutboundError} `address` */
export function checkUrl(text: string, rules: AddressRules): URL {
  if (!URL.canParse(text)) throw new OutboundError('address', 'not an address');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutboundError('address', `scheme ${url.protocol} is not called`);
  }
  if (url.username !== '' || url.password !== '') throw new OutboundError('address', 'credentials in an address');
  const host = hostOf(url);
  if (isIP(host) !== 0) assertCallable(host, host, rules);
  return url;
}

/**
 * Judges the addresses of a host that a proxy will connect to. A name that only the proxy can resolve is left to the proxy.
 * @throws {OutboundError} `address`
 */
export async function assertCallableName(url: URL, rules: AddressRules): Promise<void> {
  const host = hostOf(url);
  const { resolve = systemResolve } = rules;
  const addresses = await new Promise<readonly LookupAddress[]>((done) => {
    resolve(host, (error, found) => done(error === null ? found : []));
  });
  for (const { address } of addresses) assertCallable(address, host, rules);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** @throws {OutboundError} `address` */
function assertCallable(address: string, host: string, { allowPrivate }: AddressRules): void {
  if (isForbiddenAddress(address)) {
    throw new OutboundError('address', `${host} is link-local or a metadata service, which is never called`);
  }
  if (!allowPrivate && !isPublicAddress(address)) {
    throw new OutboundError('address', `${host} is not a public address`);
  }
}

/** Judges every address of a name: a private one among them would be reached when the others do not answer. */
export function guardedLookup(rules: AddressRules): LookupFunction {
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

export interface ProxySettings {
  /** Address of the forward proxy (secret: it may hold credentials); absent: none. */
  readonly outboundProxy: string | undefined;
  /** Hosts that are called directly. */
  readonly outboundNoProxy: readonly string[];
}

/** Connects directly or through the proxy. @param options of the connections; their `lookup` does not see what goes through the proxy */
export function createOutboundAgent(
  { outboundProxy, outboundNoProxy }: ProxySettings,
  options: Agent.Options,
): Dispatcher {
  if (outboundProxy === undefined) return new Agent(options);
  // All are set: the library would take missing ones from the environment.
  const proxy = { httpProxy: outboundProxy, httpsProxy: outboundProxy, noProxy: outboundNoProxy.join(',') };
  return new EnvHttpProxyAgent({ ...options, ...proxy });
}

/** The `fetch` for documents at addresses that an operator configured. */
export function createOutboundFetch(proxy: ProxySettings): { fetch: FetchJson; close(): Promise<void> } {
  if (proxy.outboundProxy === undefined) return { fetch: globalThis.fetch, close: async () => {} };
  const dispatcher = createOutboundAgent(proxy, {});
  return { fetch: (url, init) => undiciFetch(url, { ...init, dispatcher }), close: () => dispatcher.destroy() };
}

type Resolve = (host: string, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** Every address of a host, by the system's resolver. */
const systemResolve: Resolve = (host, done) => lookup(host, { all: true }, done);

/** The first value of a header. */
export function headerValue(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

/**
 * Why a call gave no usable answer.
 * - `address`: an address that may not be called
 * - `unreachable`: no connection, or it was refused
 * - `timeout`: no complete answer in time
 * - `broken-off`: the answer ended before its end
 * - `status`: an unexpected HTTP status
 * - `redirect`: a redirect that is not followed, or too many
 * - `encoding`: a compression that was not asked for, or bytes that are not in it
 * - `too-large`: more bytes than allowed, compressed or not
 * - `content-type`: not JSON by its own account
 * - `not-json`: not JSON in UTF-8
 */
type OutboundFault =
  | 'address'
  | 'unreachable'
  | 'timeout'
  | 'broken-off'
  | 'status'
  | 'redirect'
  | 'encoding'
  | 'too-large'
  | 'content-type'
  | 'not-json';

/** A call to another service that failed. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundFault;
  /** With code `status`. */
  readonly status: number | undefined;
  /** Milliseconds that the other side asks to wait (RFC 9110 section 10.2.3). */
  readonly retryAfterMs: number | undefined;
  /** Of a status: the start of the body, when it is a problem document (RFC 9457). */
  readonly problem: unknown;

  constructor(
    code: OutboundFault,
    message: string,
    more: { status?: number; retryAfterMs?: number | undefined; problem?: unknown; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.problem = more.problem;
  }
}
