// Where the status of one certificate comes from: the issuer's OCSP responder, else its revocation list.
import { setTimeout as delay } from 'node:timers/promises';
import { AddressQueue } from './address-queue.ts';
import { BoundedMap } from './bounded-map.ts';
import { crlAddresses, ocspAddresses } from './certificate-extensions.ts';
import { isListed, type RevocationList, readCrl } from './crl.ts';
import type { Fetch } from './fetch.ts';
import { createOcspRequest, readOcspAnswer } from './ocsp.ts';
import { isWorthKeeping, type RevocationStatus, retryMs, type Subject } from './revocation-status.ts';

export interface SourceOptions {
  readonly now: () => Date;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  /** How long an OCSP answer is waited for; one that comes within `ocspLateMs` is kept for the next. */
  readonly ocspTimeoutMs: number;
  readonly ocspLateMs: number;
  readonly crlTimeoutMs: number;
  /** Bytes of one list; of all that are kept, twice as many. */
  readonly crlBytes: number;
  /** Takes why a list that is still valid could not be refreshed; it is used until its end. */
  readonly refreshFailed: (reason: unknown) => void;
}

interface KeptList {
  readonly list: RevocationList;
  /** When to ask for a newer one: ahead of its end, and again a while after each attempt. */
  refreshAt: Date;
}

const maxAddresses = 2;
const maxOcspBytes = 64 * 1024;

type Late = (status: RevocationStatus) => void;

/**
 * Asks for the status of a certificate; rejects with every reason when nobody gives an answer.
 * @param late takes an answer that came after it was waited for
 */
export type RevocationSource = (subject: Subject, late: Late) => Promise<RevocationStatus>;

export function createRevocationSource(options: SourceOptions): RevocationSource {
  const queue = new AddressQueue();
  const lists = new BoundedMap<KeptList>(2 * options.crlBytes, (_key, { list }) => list.der.length);
  const refreshing = new Set<string>();
  const ocspUnderWay = new Map<string, Promise<RevocationStatus>>();

  /** What waited in line while the end came is not called any more. */
  const fetch: Fetch = async (request) => {
    options.signal.throwIfAborted();
    return options.fetch(request);
  };

  const fetchOcsp = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const { der, nonce } = await createOcspRequest(subject);
    const answer = await queue.run(url, () =>
      fetch({
        url,
        method: 'POST',
        body: der,
        contentType: 'application/ocsp-request',
        timeoutMs: options.ocspLateMs,
        maxBytes: maxOcspBytes,
        signal: options.signal,
      }),
    );
    return readOcspAnswer(answer, subject, nonce, options.now());
  };

  /** Waits a while; the question stays under way after that, for whoever asks it again and for `late`. */
  const askOcsp = async (url: string, subject: Subject, late: Late): Promise<RevocationStatus> => {
    const key = `${subject.certificate.thumbprint} ${subject.issuer.thumbprint} ${url}`;
    const asking = ocspUnderWay.get(key) ?? fetchOcsp(url, subject).finally(() => void ocspUnderWay.delete(key));
    ocspUnderWay.set(key, asking);
    const ended = new AbortController();
    const timeout = delay(options.ocspTimeoutMs, undefined, { signal: ended.signal }).then(() => {
      asking.then(late, () => undefined);
      throw new Error(`no answer within ${options.ocspTimeoutMs} ms`);
    });
    try {
      return await Promise.race([asking, timeout]);
    } finally {
      ended.abort();
      timeout.catch(() => undefined);
    }
  };

  const fetchList = async (key: string, url: string, { issuer }: Subject): Promise<KeptList> => {
    const { crlTimeoutMs: timeoutMs, signal } = options;
    const der = await fetch({ url, method: 'GET', timeoutMs, maxBytes: options.crlBytes, signal });
    const list = await readCrl(der, issuer, options.now());
    const fetched = { list, refreshAt: list.refreshAt };
    if (isWorthKeeping(list.validUntil, options.now())) lists.set(key, fetched);
    return fetched;
  };

  const findList = (key: string): KeptList | undefined => {
    const kept = lists.get(key);
    return kept !== undefined && options.now() < kept.list.validUntil ? kept : undefined;
  };

  /** One attempt at a time: each may last longer than the pause between them. */
  const refresh = (key: string, url: string, subject: Subject): void => {
    if (refreshing.has(key)) return;
    refreshing.add(key);
    queue
      .run(url, () => fetchList(key, url, subject))
      .catch(options.refreshFailed)
      .finally(() => refreshing.delete(key));
  };

  /** A list that is valid serves at once; one that is due is refreshed meanwhile, for who asks later. */
  const loadList = async (url: string, subject: Subject): Promise<KeptList> => {
    const key = `${subject.issuer.thumbprint} ${url}`;
    const kept = findList(key);
    // A list fetched while this one waited in line serves as well.
    if (kept === undefined) return queue.run(url, async () => findList(key) ?? (await fetchList(key, url, subject)));
    if (options.now() >= kept.refreshAt) {
      kept.refreshAt = new Date(options.now().getTime() + retryMs);
      refresh(key, url, subject);
    }
    return kept;
  };

  const askList = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const { list, refreshAt } = await loadList(url, subject);
    return { revoked: await isListed(list, subject.certificate), validUntil: list.validUntil, refreshAt };
  };

  return async (subject, late) => {
    const faults: unknown[] = [];
    const attempts = [
      ...ocspAddresses(subject.certificate)
        .slice(0, maxAddresses)
        .map((url) => () => askOcsp(url, subject, late)),
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
