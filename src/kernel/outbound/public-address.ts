import { BlockList, isIPv6 } from 'node:net';

// Which network addresses may be called on the word of somebody else's document (IANA special-purpose registries).
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
