// Every certificate below the anchor must be known not to be revoked. First the check of a path, then the source of the status of one certificate:
// the OCSP responder of its issuer, else the issuer's revocation list. @see RFC 5280 section 6.3, RFC 6960; docs/decisions/0003-path-validation.md
import { LRUCache } from 'lru-cache';
import { type Certificate, crlAddresses, JadesError, ocspAddresses, type Subject } from './certificate.ts';
import { isListed, type RevocationList, readCrl } from './crl.ts';
import { createOcspRequest, readOcspAnswer } from './ocsp.ts';

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

/** Returns the body of a 200 answer; anything else rejects. */
export type Fetch = (request: FetchRequest) => Promise<Uint8Array>;

/** Without an answer, `hard` refuses and `soft` accepts. Both refuse a revoked certificate. */
export type RevocationMode = 'hard' | 'soft';

interface RevocationStatus {
  readonly revoked: boolean;
  readonly validUntil: Date;
  /** When to refresh it; absent: by `refreshTime`. */
  readonly refreshAt?: Date;
}

/** The status of a certificate, from memory while it is valid. Rejects with every reason when there is no answer. */
type RevocationSource = (subject: Subject) => Promise<RevocationStatus>;

interface RevocationOptions {
  readonly mode: RevocationMode;
  /** Milliseconds that one verification waits at most; a later answer is cached for the next. */
  readonly deadlineMs: number;
}

/** @param path leaf first, anchor last @throws JadesError certificate-revoked, revocation-unknown */
export async function checkRevocation(
  path: readonly Certificate[],
  statusOf: RevocationSource,
  { mode, deadlineMs }: RevocationOptions,
): Promise<void> {
  const subjects = path.slice(0, -1).flatMap((certificate, index) => {
    const issuer = path[index + 1];
    return issuer === undefined ? [] : [{ certificate, issuer }];
  });
  const outcomes = await Promise.allSettled(subjects.map((subject) => within(deadlineMs, statusOf(subject))));
  // A revocation takes precedence over a missing answer.
  if (outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value.revoked)) {
    throw new JadesError('certificate-revoked', 'Een certificaat in het pad is ingetrokken.');
  }
  const unknown = outcomes.find((outcome) => outcome.status === 'rejected');
  if (unknown === undefined || mode === 'soft') return;
  const detail = 'Van een certificaat in het pad is niet vast te stellen of het is ingetrokken.';
  throw new JadesError('revocation-unknown', detail, { cause: unknown.reason });
}

/** Waits for a limited time; the work continues afterwards. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

interface SourceOptions {
  readonly now: () => Date;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  /** How long to wait for an OCSP answer; one that comes within `ocspLateMs` is cached for the next verification. */
  readonly ocspTimeoutMs: number;
  readonly ocspLateMs: number;
  readonly crlTimeoutMs: number;
  /** Bytes of one list; twice as many for all cached lists. */
  readonly crlBytes: number;
  /** Called with the reason when an answer that is still valid could not be refreshed; it is used until it expires. */
  readonly refreshFailed: (reason: unknown) => void;
}

const MAX_ADDRESSES = 2;
const MAX_OCSP_BYTES = 64 * 1024;
const MAX_STATUS_BYTES = 1024 * 1024;
const STATUS_BYTES = 500;

export function createRevocationSource(options: SourceOptions): RevocationSource {
  const { now, signal } = options;
  const fetchInTurn = createQueues();
  const statuses = new Answers<RevocationStatus>(options, MAX_STATUS_BYTES, () => STATUS_BYTES);
  const lists = new Answers<ListAnswer>(options, 2 * options.crlBytes, ({ list }) => list.der.length);
  const ocspInFlight = new Map<string, Promise<RevocationStatus>>();

  const fetch: Fetch = (request) =>
    fetchInTurn(request.url, async () => {
      // After the verifier was closed, requests that waited in a queue are not sent.
      signal.throwIfAborted();
      return await options.fetch(request);
    });

  const fetchOcsp = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const { der, nonce } = await createOcspRequest(subject);
    const limits = { timeoutMs: options.ocspLateMs, maxBytes: MAX_OCSP_BYTES, signal };
    const contentType = 'application/ocsp-request';
    const answer = await fetch({ url, method: 'POST', body: der, contentType, ...limits });
    const { revoked, thisUpdate, nextUpdate } = await readOcspAnswer(answer, subject, nonce, now());
    // Without an end it is valid for this request, whose nonce it has, whenever the responder last checked.
    return { revoked, validUntil: validUntil(thisUpdate, nextUpdate ?? now(), now()) };
  };

  /** Waits for a limited time; the request continues afterwards, for the next verification. */
  const askOcsp = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const key = keyOf(subject);
    const asking =
      ocspInFlight.get(key + url) ?? fetchOcsp(url, subject).finally(() => void ocspInFlight.delete(key + url));
    ocspInFlight.set(key + url, asking);
    try {
      return await within(options.ocspTimeoutMs, asking);
    } catch (error) {
      // A late answer never replaces a known revocation.
      const keepLate = (status: RevocationStatus) => statuses.peek(key)?.revoked === true || statuses.keep(key, status);
      asking.then(keepLate, () => undefined);
      throw error;
    }
  };

  const fetchList = async (url: string, { issuer }: Subject): Promise<ListAnswer> => {
    const limits = { timeoutMs: options.crlTimeoutMs, maxBytes: options.crlBytes, signal };
    const list = await readCrl(await fetch({ url, method: 'GET', ...limits }), issuer);
    return { list, validUntil: validUntil(list.thisUpdate, list.nextUpdate ?? list.thisUpdate, now()) };
  };

  const askList = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const key = `${subject.issuer.thumbprint} ${url}`;
    const { answer, refreshAt } = await lists.get(key, () => fetchList(url, subject));
    return { revoked: await isListed(answer.list, subject.certificate), validUntil: answer.validUntil, refreshAt };
  };

  const askIssuer = async (subject: Subject): Promise<RevocationStatus> => {
    const attempts = [
      ...ocspAddresses(subject.certificate)
        .slice(0, MAX_ADDRESSES)
        .map((url) => () => askOcsp(url, subject)),
      ...crlAddresses(subject.certificate)
        .slice(0, MAX_ADDRESSES)
        .map((url) => () => askList(url, subject)),
    ];
    const faults: unknown[] = [];
    for (const attempt of attempts) {
      try {
        return await attempt();
      } catch (fault) {
        faults.push(fault);
      }
    }
    const why = faults.length > 0 ? 'no address gave an answer' : 'the certificate names no address';
    throw new AggregateError(faults, why);
  };

  return async (subject) => (await statuses.get(keyOf(subject), () => askIssuer(subject))).answer;
}

function keyOf({ certificate, issuer }: Subject): string {
  return `${certificate.thumbprint} ${issuer.thumbprint}`;
}

interface ListAnswer {
  readonly list: RevocationList;
  readonly validUntil: Date;
}

interface Kept<T> {
  readonly answer: T;
  refreshAt: Date;
}

/** Answers that are used while they are valid, and refreshed in the background ahead of their end; each is asked for once at a time. */
class Answers<T extends { readonly validUntil: Date; readonly refreshAt?: Date }> {
  readonly #now: () => Date;
  readonly #refreshFailed: (reason: unknown) => void;
  readonly #kept: LRUCache<string, Kept<T>>;
  readonly #asking = new Map<string, Promise<Kept<T>>>();

  constructor({ now, refreshFailed }: SourceOptions, maxSize: number, bytesOf: (answer: T) => number) {
    this.#now = now;
    this.#refreshFailed = refreshFailed;
    this.#kept = new LRUCache({
      maxSize,
      sizeCalculation: ({ answer }, key) => 2 * key.length + bytesOf(answer),
    });
  }

  peek(key: string): T | undefined {
    return this.#kept.get(key)?.answer;
  }

  async get(key: string, ask: () => Promise<T>): Promise<Kept<T>> {
    const known = this.#kept.get(key);
    const now = this.#now();
    if (known === undefined || now >= known.answer.validUntil) return await this.#ask(key, ask);
    if (now >= known.refreshAt) {
      // The cached answer is used until it expires; a failed refresh is retried later.
      known.refreshAt = new Date(now.getTime() + RETRY_MS);
      this.#ask(key, ask).catch(this.#refreshFailed);
    }
    return known;
  }

  /** An answer that ends very soon is used once: its issuer makes new ones continually. */
  keep(key: string, answer: T): Kept<T> {
    const now = this.#now();
    const kept = { answer, refreshAt: answer.refreshAt ?? refreshTime(now, answer.validUntil) };
    if (answer.validUntil.getTime() - now.getTime() > MIN_LIFETIME_MS) this.#kept.set(key, kept);
    else this.#kept.delete(key);
    return kept;
  }

  #ask(key: string, ask: () => Promise<T>): Promise<Kept<T>> {
    const running = this.#asking.get(key);
    if (running !== undefined) return running;
    const asking = ask()
      .then((answer) => this.keep(key, answer))
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }
}

const MAX_WAITING = 32;

/** Runs one task at a time per address, so that a slow responder is never called twice at once; rejects when too many wait for it already. */
function createQueues() {
  const queues = new Map<string, { tail: Promise<unknown>; waiting: number }>();
  return async <T>(address: string, task: () => Promise<T>): Promise<T> => {
    const queue = queues.get(address) ?? { tail: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= MAX_WAITING) throw new Error(`too many are waiting for ${address}`);
    queues.set(address, queue);
    queue.waiting += 1;
    const result = queue.tail.then(task).finally(() => {
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(address);
    });
    queue.tail = result.catch(() => undefined);
    return await result;
  };
}

/** Clocks of responders may differ this much from ours. */
const SKEW_MS = 60_000;
/** An answer that ends sooner than this, or has no end, is not cached. */
const MIN_LIFETIME_MS = 5_000;
const REFRESH_MS = 12 * 60 * 60 * 1000;
/** The pause before a failed refresh is retried. */
const RETRY_MS = 30_000;
/** An older answer is refused, whatever its `nextUpdate`. */
const MAX_AGE_MS = 400 * 24 * 60 * 60 * 1000;

/** The moment until which an answer is valid. @throws Error when it is not yet or no longer valid */
function validUntil(thisUpdate: Date, nextUpdate: Date, now: Date): Date {
  const time = now.getTime();
  if (Number.isNaN(thisUpdate.getTime())) throw new Error('the answer has no readable date');
  if (thisUpdate.getTime() > time + SKEW_MS) throw new Error('the answer is dated in the future');
  if (thisUpdate.getTime() < time - MAX_AGE_MS) throw new Error('the answer is too old');
  if (!(nextUpdate.getTime() > time - SKEW_MS)) throw new Error('the answer is stale');
  if (nextUpdate.getTime() < thisUpdate.getTime() - SKEW_MS) throw new Error('the answer ends before it begins');
  return nextUpdate;
}

/** When to ask again: after three quarters of the time to the end, and at least twice a day. */
function refreshTime(now: Date, end: Date): Date {
  const ahead = (end.getTime() - now.getTime()) * 0.75;
  return new Date(now.getTime() + Math.min(ahead, REFRESH_MS));
}
