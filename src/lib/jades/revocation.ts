// Every certificate below the anchor must be known not to be revoked. First the check of a path, then where the status of one
// certificate comes from: the OCSP responder of its issuer, else the issuer's revocation list.
// @see RFC 5280 section 6.3, RFC 6960; docs/decisions/0003-path-validation.md
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type Certificate, crlAddresses, ocspAddresses, type Subject } from './certificate.ts';
import { isListed, type RevocationList, readCrl } from './crl.ts';
import { JadesError } from './errors.ts';
import { createOcspRequest, readOcspAnswer } from './ocsp.ts';

/** One request to a revocation address. */
export interface FetchRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body?: Uint8Array;
  readonly contentType?: string;
  /** Milliseconds until the whole answer must be there. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Gives the body of a 200 answer; anything else rejects. */
export type Fetch = (request: FetchRequest) => Promise<Uint8Array>;

/** Without an answer, `hard` refuses and `soft` accepts. Both refuse a revoked certificate. */
export type RevocationMode = 'hard' | 'soft';

interface RevocationOptions {
  readonly mode: RevocationMode;
  readonly now: () => Date;
  readonly ask: RevocationSource;
  /** Milliseconds that one verification waits at most; a later answer is cached for the next. */
  readonly deadlineMs: number;
  /** Called with the reason when a refresh failed; the cached answer stays in use. */
  readonly refreshFailed: (reason: unknown) => void;
}

/** @param path leaf first, anchor last. @throws JadesError certificate-revoked, revocation-unknown */
type RevocationCheck = (path: readonly Certificate[]) => Promise<void>;

/** What an issuer says of a certificate, and until when that is valid. */
interface RevocationStatus {
  readonly revoked: boolean;
  readonly validUntil: Date;
  /** When to ask for a newer one; absent: by `refreshTime`. */
  readonly refreshAt?: Date;
}

interface CachedStatus {
  readonly status: RevocationStatus;
  refreshAt: Date;
}

const maxCachedBytes = 1024 * 1024;
const statusBytes = 500;

export function createRevocationCheck({
  mode,
  now,
  ask,
  deadlineMs,
  refreshFailed,
}: RevocationOptions): RevocationCheck {
  const cache = new LRUCache<string, CachedStatus>({
    maxSize: maxCachedBytes,
    sizeCalculation: (_entry, key) => 2 * key.length + statusBytes,
  });
  const inFlight = new Map<string, Promise<RevocationStatus>>();

  const store = (key: string, status: RevocationStatus): void => {
    if (isCacheable(status.validUntil, now())) {
      cache.set(key, { status, refreshAt: status.refreshAt ?? refreshTime(now(), status.validUntil) });
    } else {
      cache.delete(key);
    }
  };
  /** A late answer, that no request waits for any more, never replaces a known revocation. */
  const storeLate = (key: string, status: RevocationStatus): void => {
    if (cache.get(key)?.status.revoked !== true) store(key, status);
  };

  const fetchStatus = (key: string, subject: Subject): Promise<RevocationStatus> => {
    const running = inFlight.get(key);
    if (running !== undefined) return running;
    const asking = ask(subject, (status) => storeLate(key, status))
      .then((status) => {
        store(key, status);
        return status;
      })
      .finally(() => inFlight.delete(key));
    inFlight.set(key, asking);
    return asking;
  };

  const statusOf = (subject: Subject): Promise<RevocationStatus> => {
    const key = `${subject.certificate.thumbprint} ${subject.issuer.thumbprint}`;
    const entry = cache.get(key);
    if (entry === undefined || now() >= entry.status.validUntil) return fetchStatus(key, subject);
    if (now() >= entry.refreshAt) {
      entry.refreshAt = new Date(now().getTime() + retryMs);
      // The cached answer is used until it expires; a failed refresh is tried again later.
      fetchStatus(key, subject).catch(refreshFailed);
    }
    return Promise.resolve(entry.status);
  };

  return async (path) => {
    const ended = new AbortController();
    const deadline = delay(deadlineMs, undefined, { signal: ended.signal }).then(() => {
      throw new Error(`no answer within ${deadlineMs} ms`);
    });
    const subjects = path.slice(0, -1).flatMap((certificate, index) => {
      const issuer = path[index + 1];
      return issuer === undefined ? [] : [{ certificate, issuer }];
    });
    const outcomes = await Promise.allSettled(subjects.map((subject) => Promise.race([statusOf(subject), deadline])));
    ended.abort();
    judge(outcomes, mode);
  };
}

/** A revocation takes precedence over a missing answer. */
function judge(outcomes: readonly PromiseSettledResult<RevocationStatus>[], mode: RevocationMode): void {
  if (outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value.revoked)) {
    throw new JadesError('certificate-revoked', 'Een certificaat in het pad is ingetrokken.');
  }
  const unknown = outcomes.find((outcome) => outcome.status === 'rejected');
  if (unknown === undefined || mode === 'soft') return;
  const detail = 'Van een certificaat in het pad is niet vast te stellen of het is ingetrokken.';
  throw new JadesError('revocation-unknown', detail, { cause: unknown.reason });
}

interface SourceOptions {
  readonly now: () => Date;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  /** How long to wait for an OCSP answer; one that comes within `ocspLateMs` is cached for the next verification. */
  readonly ocspTimeoutMs: number;
  readonly ocspLateMs: number;
  readonly crlTimeoutMs: number;
  /** Bytes of one list; twice as many for all that are cached. */
  readonly crlBytes: number;
  /** Called with the reason when a list that is still valid could not be refreshed; it is used until it expires. */
  readonly refreshFailed: (reason: unknown) => void;
}

interface CachedList {
  readonly list: RevocationList;
  readonly validUntil: Date;
  /** When to ask for a newer one: ahead of its end, and again a while after each attempt. */
  refreshAt: Date;
}

const maxAddresses = 2;
const maxOcspBytes = 64 * 1024;

type Late = (status: RevocationStatus) => void;

/**
 * Asks for the status of a certificate; rejects with every reason when there is no answer.
 * @param late called with an answer that came too late for this request
 */
type RevocationSource = (subject: Subject, late: Late) => Promise<RevocationStatus>;

export function createRevocationSource(options: SourceOptions): RevocationSource {
  const queue = new AddressQueue();
  const lists = new LRUCache<string, CachedList>({
    maxSize: 2 * options.crlBytes,
    sizeCalculation: ({ list }, key) => list.der.length + 2 * key.length,
  });
  const refreshing = new Set<string>();
  const ocspInFlight = new Map<string, Promise<RevocationStatus>>();

  /** After the verifier was closed, requests that waited in a queue are not sent. */
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
    const { revoked, thisUpdate, nextUpdate } = await readOcspAnswer(answer, subject, nonce, options.now());
    const now = options.now();
    // Without an end it holds for this request, of which it has the nonce, whenever the responder last looked.
    return { revoked, validUntil: validUntil(thisUpdate, nextUpdate ?? now, now) };
  };

  /** Waits a while; after that the request goes on, for the next caller and for `late`. */
  const askOcsp = async (url: string, subject: Subject, late: Late): Promise<RevocationStatus> => {
    const key = `${subject.certificate.thumbprint} ${subject.issuer.thumbprint} ${url}`;
    const asking = ocspInFlight.get(key) ?? fetchOcsp(url, subject).finally(() => void ocspInFlight.delete(key));
    ocspInFlight.set(key, asking);
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

  const fetchList = async (key: string, url: string, { issuer }: Subject): Promise<CachedList> => {
    const { crlTimeoutMs: timeoutMs, signal } = options;
    const der = await fetch({ url, method: 'GET', timeoutMs, maxBytes: options.crlBytes, signal });
    const list = await readCrl(der, issuer);
    const now = options.now();
    const until = validUntil(list.thisUpdate, list.nextUpdate ?? list.thisUpdate, now);
    const fetched = { list, validUntil: until, refreshAt: refreshTime(now, until) };
    if (isCacheable(until, now)) lists.set(key, fetched);
    return fetched;
  };

  const findList = (key: string): CachedList | undefined => {
    const cached = lists.get(key);
    return cached !== undefined && options.now() < cached.validUntil ? cached : undefined;
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

  /** A valid list is used at once; one that is due is refreshed in the background. */
  const loadList = async (url: string, subject: Subject): Promise<CachedList> => {
    const key = `${subject.issuer.thumbprint} ${url}`;
    const cached = findList(key);
    // A list that was fetched while this request was queued will do.
    if (cached === undefined) return queue.run(url, async () => findList(key) ?? (await fetchList(key, url, subject)));
    if (options.now() >= cached.refreshAt) {
      cached.refreshAt = new Date(options.now().getTime() + retryMs);
      refresh(key, url, subject);
    }
    return cached;
  };

  const askList = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const { list, validUntil, refreshAt } = await loadList(url, subject);
    return { revoked: await isListed(list, subject.certificate), validUntil, refreshAt };
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
    throw new AggregateError(
      faults,
      faults.length > 0 ? 'no address gave an answer' : 'the certificate names no address',
    );
  };
}

const maxWaiting = 32;

interface Queue {
  tail: Promise<unknown>;
  waiting: number;
}

/** Runs one task at a time per address, so that a slow responder is never called twice at once. */
class AddressQueue {
  readonly #queues = new Map<string, Queue>();

  /** Rejects when too many are waiting for this address already. */
  run<T>(address: string, task: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(address) ?? { tail: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= maxWaiting) return Promise.reject(new Error(`too many are waiting for ${address}`));
    this.#queues.set(address, queue);
    queue.waiting += 1;
    const result = queue.tail.then(task);
    queue.tail = result.then(
      () => this.#leave(address, queue),
      () => this.#leave(address, queue),
    );
    return result;
  }

  #leave(address: string, queue: Queue): void {
    queue.waiting -= 1;
    if (queue.waiting === 0) this.#queues.delete(address);
  }
}

/** Clocks of responders may differ this much from ours. */
const skewMs = 60_000;
/** An answer that ends sooner than this, or has no end, is used once: its issuer makes new ones all the time. */
const minLifetimeMs = 5_000;
const refreshMs = 12 * 60 * 60 * 1000;
/** The pause before a failed refresh is tried again. */
const retryMs = 30_000;
/** An older answer is not accepted, whatever its end. */
const maxAgeMs = 400 * 24 * 60 * 60 * 1000;

/**
 * The moment until which an answer is valid.
 * @throws Error when it is not yet or no longer valid
 */
function validUntil(thisUpdate: Date, nextUpdate: Date, now: Date): Date {
  const time = now.getTime();
  if (Number.isNaN(thisUpdate.getTime())) throw new Error('the answer has no readable date');
  if (thisUpdate.getTime() > time + skewMs) throw new Error('the answer is from the future');
  if (thisUpdate.getTime() < time - maxAgeMs) throw new Error('the answer is too old');
  if (!(nextUpdate.getTime() > time - skewMs)) throw new Error('the answer is stale');
  if (nextUpdate.getTime() < thisUpdate.getTime() - skewMs) throw new Error('the answer ends before it begins');
  return nextUpdate;
}

function isCacheable(until: Date, now: Date): boolean {
  return until.getTime() - now.getTime() > minLifetimeMs;
}

/** When to ask again: after three quarters of the time to the end, and at least twice a day. */
function refreshTime(now: Date, end: Date): Date {
  const ahead = (end.getTime() - now.getTime()) * 0.75;
  return new Date(now.getTime() + Math.min(ahead, refreshMs));
}
