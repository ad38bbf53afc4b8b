/** Trust settings for the certificates of messages: the roots, a time, and where to look up their status. */
import { parsePemCertificates, type Subject } from '../../src/lib/jades/certificate.ts';
import { isListed, readCrl } from '../../src/lib/jades/crl.ts';
import { checkRevocation, createRevocationSource, type Fetch } from '../../src/lib/jades/revocation.ts';
import type { Trust } from './message.ts';

interface TrustOptions {
  /** PEM. */
  readonly anchors: string;
  readonly at: Date;
  /** Revocation lists (DER) instead of asking the issuers. */
  readonly lists?: readonly Uint8Array[];
  /** Asks the issuers, by OCSP and their lists. */
  readonly fetch?: Fetch | undefined;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 10_000;
const MOST_BYTES = 50 * 1024 * 1024;

/** @throws {TypeError} when there is no root; errors about unreadable input */
export function readTrust({ anchors, at, lists = [], fetch, signal }: TrustOptions): Trust {
  const roots = parsePemCertificates(anchors);
  if (roots.length === 0) throw new TypeError('the file holds no root certificate');
  if (fetch === undefined && lists.length === 0) return { anchors: roots, at };
  const statusOf =
    fetch === undefined
      ? listedIn(lists)
      : createRevocationSource({
          now: () => at,
          fetch,
          signal,
          refreshFailed: () => undefined,
          crlBytes: MOST_BYTES,
          ocspTimeoutMs: DEADLINE_MS / 2,
          ocspLateMs: DEADLINE_MS,
          crlTimeoutMs: DEADLINE_MS,
        });
  const options = { mode: 'hard', deadlineMs: DEADLINE_MS } as const;
  return { anchors: roots, at, checkRevocation: (path) => checkRevocation(path, statusOf, options) };
}

/** The status according to the issuer's list; whoever provided the list vouches for its date. */
function listedIn(lists: readonly Uint8Array[]) {
  return async ({ certificate, issuer }: Subject) => {
    for (const der of lists) {
      const list = await readCrl(der, issuer).catch(() => undefined);
      if (list === undefined) continue;
      return { revoked: await isListed(list, certificate), validUntil: list.nextUpdate ?? list.thisUpdate };
    }
    throw new Error("none of the lists is the issuer's");
  };
}
