import type { Finding } from './case.ts';

/** Names as in RFC 6761, section 6.3, and addresses, including IPv4-mapped IPv6. */
const LOOPBACK = /^(([\w-]+\.)*localhost\.?|127(\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/;

export function withoutTls(address: string): Finding {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:') return undefined;
  if (LOOPBACK.test(hostname)) return { skipped: 'the address is of this machine: nothing goes over a network' };
  return `the address is ${protocol} and not https:, so the traffic is not encrypted`;
}
