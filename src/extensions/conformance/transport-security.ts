/** Whether what is tested is reached over TLS. */
import type { Finding } from './case.ts';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** @param address of what is tested */
export function withoutTls(address: string): Finding {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:') return undefined;
  if (LOOPBACK.test(hostname)) return { skipped: 'the address is of this machine: nothing goes over a network' };
  return `the address is ${protocol} and not https:, so that nothing is encrypted on the way`;
}
