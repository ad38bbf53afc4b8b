// Where the status of one certificate comes from: the issuer's OCSP responder, else its revocation list.
import { AddressQueue } from './address-queue.ts';
import { BoundedMap } from './bounded-map.ts';
import { crlAddresses, ocspAddresses } from './certificate-extensions.ts';
import { isListed, type RevocationList, readCrl } from './crl.ts';
import type { Fetch } from './fetch.ts';
import { createOcspRequest, readOcspAnswer } from './ocsp.ts';
import { isWorthKeeping, type RevocationStatus, type Subject } from './revocation-status.ts';

export interface SourceOptions {
  readonly now: () => Date;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  readonly ocspTimeoutMs: number;
  readonly crlTimeoutMs: number;
}

const maxAddresses = 2;
const maxOcspBytes = 64 * 1024;
const maxCrlBytes = 5 * 1024 * 1024;
const maxLists = 8;

/** Asks for the status of a certificate; rejects with every reason when nobody gives an answer. */
export type RevocationSource = (subject: Subject) => Promise<RevocationStatus>;

export function createRevocationSource(options: SourceOptions): RevocationSource {
  const queue = new AddressQueue();
  const lists = new BoundedMap<RevocationList>(maxLists);

  /** What waited in line while the end came is not called any more. */
  const fetch: Fetch = async (request) => {
    options.signal.throwIfAborted();
    return options.fetch(request);
  };

  const askOcsp = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const { der, nonce } = await createOcspRequest(subject);
    const contentType = 'application/ocsp-request';
    const answer = await queue.run(url, () =>
      fetch({
        url,
        method: 'POST',
        body: der,
        contentType,
        timeoutMs: options.ocspTimeoutMs,
        maxBytes: maxOcspBytes,
        signal: options.signal,
      }),
    );
    return readOcspAnswer(answer, subject, nonce, options.now());
  };

  const loadList = async (url: string, subject: Subject): Promise<RevocationList> => {
    const key = `${subject.issuer.thumbprint} ${url}`;
    // A list fetched while this one waited in line serves as well.
    return queue.run(url, async () => {
      const kept = lists.get(key);
      if (kept !== undefined && options.now() < kept.refreshAt) return kept;
      const { crlTimeoutMs: timeoutMs, signal } = options;
      const der = await fetch({ url, method: 'GET', timeoutMs, maxBytes: maxCrlBytes, signal });
      const list = await readCrl(der, subject.issuer, options.now());
      if (isWorthKeeping(list.validUntil, options.now())) lists.set(key, list);
      return list;
    });
  };

  const askList = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const list = await loadList(url, subject);
    return { revoked: await isListed(list, subject.certificate), validUntil: list.validUntil };
  };

  return async (subject) => {
    const faults: unknown[] = [];
    const attempts = [
      ...ocspAddresses(subject.certificate)
        .slice(0, maxAddresses)
        .map((url) => () => askOcsp(url, subject)),
      ...crlAddresses(subject.certificate)
        .slice(0, maxAddresses)
        .map((url) => () => askList(url, subject)),
    ];
    for (const attempt of attempts) {
      try {
        return await attempt();
      } catch (fault) {
        faults.push(fault);
      }
    }
    throw new AggregateError(faults, faults.length > 0 ? 'nobody answered' : 'the certificate names no address');
  };
}
