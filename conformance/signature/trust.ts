/** What certificates of messages are judged by: the roots, a moment, and where their status is looked up. */
import { type Certificate, parsePemCertificates, type Subject } from '../../src/lib/jades/certificate.ts';
import { isListed, readCrl } from '../../src/lib/jades/crl.ts';
import { checkRevocation, createRevocationSource, type Fetch } from '../../src/lib/jades/revocation.ts';
import type { Trust } from './message.ts';

interface TrustOptions {
  /** PEM. */
  readonly anchors: string;
  readonly at: Date;
  /** Revocation lists (DER) in place of asking the issuers. */
  readonly lists?: readonly Uint8Array[];
  /** Asks the issuers, by OCSP and their lists. */
  readonly fetch?: Fetch | undefined;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 10_000;
const MOST_BYTES = 50 * 1024 * 1024;

/** @throws {TypeError} when there is no root; errors of what cannot be read */
export function readTrust({ anchors, at, lists = [], fetch, signal }: TrustOptions): Trust {
  const roots = parsePemCertificates(anchors);
  if (roots.length === 0) throw new TypeError('the file holds no root certificate');
  const statusOf =
    fetch === undefined
      ? listedIn(lists)
      : createRevocationSource({
          ...{ now: () => at, fetch, signal, refreshFailed: () => undefined, crlBytes: MOST_BYTES },
          ...{ ocspTimeoutMs: DEADLINE_MS / 2, ocspLateMs: DEADLINE_MS, crlTimeoutMs: DEADLINE_MS },
        });
  const check = (path: readonly Certificate[]): Promise<void> =>
    checkRevocation(path, statusOf, { mode: 'hard', deadlineMs: DEADLINE_MS });
  return { anchors: roots, at, checkRevocation: fetch === undefined && lists.length === 0 ? undefined : check };
}

/** The status by the list of the issuer; whether the list is recent is for the person who gave it to say. */
function listedIn(lists: readonly Uint8Array[]) {
  return async ({ certificate, issuer }: Subject) => {
    for (const der of lists) {
      const list = await readCrl(der, issuer).catch(() => undefined);
      if (list === undefined) continue;
      return { revoked: await isListed(list, certificate), validUntil: list.nextUpdate ?? list.thisUpdate };
    }
    throw new Error('none of the lists is of the issuer');
  };
}
