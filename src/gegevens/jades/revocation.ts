import { setTimeout as delay } from 'node:timers/promises';
import { BoundedMap } from './bounded-map.ts';
import { type Certificate, crlAddresses, ocspAddresses } from './certificate.ts';
import { isListed, type RevocationList, readCrl } from './crl.ts';
import { JadesError } from './errors.ts';
import { createOcspRequest, readOcspAnswer } from './ocsp.ts';
import { isWorthKeeping, type RevocationStatus, refreshTime, retryMs, type Subject } from './revocation-status.ts';

// The policy: every certificate below the anchor must be known not to be revoked.
// @see RFC 5280 section 6.3, RFC 6960; docs/decisions/0003-path-validation.md

/** `hard`: no answer means refused; `soft`: no answer is taken for good, a revocation never is. */
export type RevocationMode = 'hard' | 'soft';

interface RevocationOptions {
  readonly mode: RevocationMode;
  readonly now: () => Date;
  readonly ask: RevocationSource;
  /** Milliseconds that one verification waits at most; what comes later is kept for the next. */
  readonly deadlineMs: number;
  /** Takes why a refresh ahead of the end failed; the kept answer goes on. */
  readonly refreshFailed: (reason: unknown) => void;
}

/** @param path leaf first, anchor last. @throws JadesError certificate-revoked, revocation-unknown */
type RevocationCheck = (path: readonly Certificate[]) => Promise<void>;

interface Kept {
  readonly status: RevocationStatus;
  refreshAt: Date;
}

const maxKeptBytes = 1024 * 1024;
const keptBytes = 500;

export function createRevocationCheck({
  mode,
  now,
  ask,
  deadlineMs,
  refreshFailed,
}: RevocationOptions): RevocationCheck {
  const kept = new BoundedMap<Kept>(maxKeptBytes, (key) => 2 * key.length + keptBytes);
  const underWay = new Map<string, Promise<RevocationStatus>>();

  const keep = (key: string, status: RevocationStatus): void => {
    if (isWorthKeeping(status.validUntil, now())) {
      kept.set(key, { status, refreshAt: status.refreshAt ?? refreshTime(now(), status.validUntil) });
    } else {
      kept.delete(key);
    }
  };
  /** An answer that came when nobody waited for it any more: never in place of a revocation that is known. */
  const keepLate = (key: string, status: RevocationStatus): void => {
    if (kept.get(key)?.status.revoked !== true) keep(key, status);
  };

  const fetchStatus = (key: string, subject: Subject): Promise<RevocationStatus> => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const asking = ask(subject, (status) => keepLate(key, status))
      .then((status) => {
        keep(key, status);
        return status;
      })
      .finally(() => underWay.delete(key));
    underWay.set(key, asking);
    return asking;
  };

  const statusOf = (subject: Subject): Promise<RevocationStatus> => {
    const key = `${subject.certificate.thumbprint} ${subject.issuer.thumbprint}`;
    const entry = kept.get(key);
    if (entry === undefined || now() >= entry.status.validUntil) return fetchStatus(key, subject);
    if (now() >= entry.refreshAt) {
      entry.refreshAt = new Date(now().getTime() + retryMs);
      // The kept answer stands until its own end; a refresh that fails is tried again later.
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

/** A revocation weighs more than an answer that is missing. */
function judge(outcomes: readonly PromiseSettledResult<RevocationStatus>[], mode: RevocationMode): void {
  if (outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value.revoked)) {
    throw new JadesError('certificate-revoked', 'Een certificaat in het pad is ingetrokken.');
  }
  const unknown = outcomes.find((outcome) => outcome.status === 'rejected');
  if (unknown === undefined || mode === 'soft') return;
  const detail = 'Van een certificaat in het pad is niet vast te stellen of het is ingetrokken.';
  throw new JadesError('revocation-unknown', detail, { cause: unknown.reason });
}

// Where the status of one certificate comes from: the issuer's OCSP responder, else its revocation list.

interface SourceOptions {
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
type RevocationSource = (subject: Subject, late: Late) => Promise<RevocationStatus>;

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

const maxWaiting = 32;

interface Line {
  tail: Promise<unknown>;
  waiting: number;
}

/** Lets one task at a time through per address, so that a slow responder is never called twice at once. */
class AddressQueue {
  readonly #lines = new Map<string, Line>();

  /** @throws Error when too many are waiting for this address already */
  run<T>(address: string, task: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(address) ?? { tail: Promise.resolve(), waiting: 0 };
    if (line.waiting >= maxWaiting) return Promise.reject(new Error(`too many are waiting for ${address}`));
    this.#lines.set(address, line);
    line.waiting += 1;
    const result = line.tail.then(task);
    line.tail = result.then(
      () => this.#leave(address, line),
      () => this.#leave(address, line),
    );
    return result;
  }

  #leave(address: string, line: Line): void {
    line.waiting -= 1;
    if (line.waiting === 0) this.#lines.delete(address);
  }
}

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
