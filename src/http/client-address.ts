import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

/** One subscriber has a whole network of IPv6 addresses, of this many 16-bit groups. */
const IPV6_GROUPS = 4;

/**
 * The address that a call is counted under: an IPv4 address, or the /64 of an IPv6 address. What a trusted proxy wrote into
 * `X-Forwarded-For` and is no address counts as the connection's: text from outside is never kept.
 */
export function clientAddress(request: FastifyRequest): string {
  return normalise(request.ip) ?? normalise(request.socket.remoteAddress) ?? 'unknown';
}

/** Whom a call counts as: the subject of its verified token, else its address. */
export function clientKey(request: FastifyRequest): string {
  const { caller } = request;
  return caller === undefined ? `address ${clientAddress(request)}` : `subject ${caller.kind} ${caller.subject}`;
}

function normalise(text: string | undefined): string | undefined {
  // Some proxies write the port behind it.
  const bare = text?.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').replace(/^\[([^\]]*)\](?::\d+)?$/, '$1');
  if (bare === undefined || (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !isIPv6(bare))) return undefined;
  const address = ipaddr.process(bare);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, IPV6_GROUPS)
    .map((group) => group.toString(16))
    .join(':')}::`;
}
