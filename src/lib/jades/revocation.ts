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

/** The status of a certificate, from memory while it is valid. Rejects with every reason when there is no answer. */
type RevocationSource = (subject: Subject) => Promise<{ readonly revoked: boolean }>;

/** @param path leaf first, anchor last @throws JadesError certificate-revoked, revocation-unknown */
export async function checkRevocation(
  path: readonly Certificate[],
  statusOf: RevocationSource,
  { mode, deadlineMs }: { readonly mode: RevocationMode; readonly deadlineMs: number },
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

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export interface RevocationLimits {
  /** Milliseconds for one OCSP answer before the list is fetched; a later answer is cached for the next verification. */
  readonly ocspTimeoutMs: number;
  /** Milliseconds after which the wait for a late OCSP answer ends. */
  readonly ocspLateMs: number;
  /** Milliseconds for one revocation list; one that comes after the deadline is cached for the next verification. */
  readonly crlTimeoutMs: number;
  /** Bytes of one revocation list; all cached lists together take twice as much at most. */
  readonly crlBytes: number;
}

interface SourceOptions extends RevocationLimits {
  readonly now: () => Date;
  readonly fetch: Fetch;
  readonly signal: AbortSignal;
  /** Called with the reason when an answer that is still valid could not be refreshed; it is used until it expires. */
  readonly refreshFailed: (reason: unknown) => void;
}

interface Answer {
  readonly validUntil: number;
  /** When to refresh it; absent: by `refreshTime`. */
  readonly refreshAt?: number;
}

interface RevocationStatus extends Answer {
  readonly revoked: boolean;
}

interface ListAnswer extends Answer {
  readonly list: RevocationList;
}

const MAX_ADDRESSES = 2;
const MAX_OCSP_BYTES = 64 * 1024;
const MAX_STATUS_BYTES = 1024 * 1024;
const STATUS_BYTES = 500;

export function createRevocationSource(options: SourceOptions): RevocationSource {
  const { now, signal, ocspTimeoutMs, ocspLateMs, crlTimeoutMs, crlBytes } = options;
  const fetchInTurn = createQueues();
  const statuses = createAnswers<RevocationStatus>(options, MAX_STATUS_BYTES, () => STATUS_BYTES);
  const lists = createAnswers<ListAnswer>(options, 2 * crlBytes, ({ list }) => list.der.length);
  const shareOcsp = createShare<RevocationStatus>();

  const fetch: Fetch = (request) =>
    fetchInTurn(request.url, async () => {
      // After the verifier was closed, requests that waited in a queue are not sent.
      signal.throwIfAborted();
      return await options.fetch(request);
    });

  const fetchOcsp = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const { der: body, nonce } = await createOcspRequest(subject);
    const limits = { timeoutMs: ocspLateMs, maxBytes: MAX_OCSP_BYTES, signal };
    const answer = await fetch({ url, method: 'POST', body, contentType: 'application/ocsp-request', ...limits });
    const { revoked, thisUpdate, nextUpdate } = await readOcspAnswer(answer, subject, nonce, now());
    // Without an end it is valid for this request, whose nonce it has, whenever the responder last checked.
    return { revoked, validUntil: validUntil(thisUpdate, nextUpdate ?? now(), now()) };
  };

  const askOcsp = async (url: string, subject: Subject): Promise<RevocationStatus> => {
    const key = keyOf(subject);
    const asking = shareOcsp(key + url, () => fetchOcsp(url, subject));
    try {
      return await within(ocspTimeoutMs, asking);
    } catch (error) {
      // A late answer never replaces a known revocation.
      const keepLate = (status: RevocationStatus) => statuses.peek(key)?.revoked === true || statuses.keep(key, status);
      asking.then(keepLate, () => undefined);
      throw error;
    }
  };

  const askList = async (url: string, { certificate, issuer }: Subject): Promise<RevocationStatus> => {
    const { answer, refreshAt } = await lists.get(`${issuer.thumbprint} ${url}`, async () => {
      const bytes = await fetch({ url, method: 'GET', timeoutMs: crlTimeoutMs, maxBytes: crlBytes, signal });
      const list = await readCrl(bytes, issuer);
      return { list, validUntil: validUntil(list.thisUpdate, list.nextUpdate ?? list.thisUpdate, now()) };
    });
    return { revoked: await isListed(answer.list, certificate), validUntil: answer.validUntil, refreshAt };
  };

  const askIssuer = async (subject: Subject): Promise<RevocationStatus> => {
    const { certificate } = subject;
    const responders = ocspAddresses(certificate).slice(0, MAX_ADDRESSES);
    const points = crlAddresses(certificate).slice(0, MAX_ADDRESSES);
    const faults: unknown[] = [];
    for (const [ask, urls] of [[askOcsp, responders] as const, [askList, points] as const]) {
      for (const url of urls) {
        try {
          return await ask(url, subject);
        } catch (fault) {
          faults.push(fault);
        }
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

interface Kept<T> {
  readonly answer: T;
  refreshAt: number;
}

/** Answers that are used while they are valid, and refreshed in the background ahead of their end; each is asked for once at a time. */
function createAnswers<T extends Answer>(
  { now, refreshFailed }: SourceOptions,
  maxSize: number,
  bytesOf: (answer: T) => number,
) {
  const share = createShare<Kept<T>>();
  const cache = new LRUCache<string, Kept<T>>({
    maxSize,
    sizeCalculation: ({ answer }, key) => 2 * key.length + bytesOf(answer),
  });
  /** An answer that ends very soon is used once: its issuer makes new ones continually. */
  const keep = (key: string, answer: T): Kept<T> => {
    const time = now().getTime();
    const kept = { answer, refreshAt: answer.refreshAt ?? refreshTime(time, answer.validUntil) };
    if (answer.validUntil - time > MIN_LIFETIME_MS) cache.set(key, kept);
    else cache.delete(key);
    return kept;
  };
  const askAndKeep = (key: string, ask: () => Promise<T>) => share(key, async () => keep(key, await ask()));
  return {
    keep,
    peek: (key: string): T | undefined => cache.get(key)?.answer,
    async get(key: string, ask: () => Promise<T>): Promise<Kept<T>> {
      const known = cache.get(key);
      const time = now().getTime();
      if (known === undefined || time >= known.answer.validUntil) return await askAndKeep(key, ask);
      if (time >= known.refreshAt) {
        // The cached answer is used until it expires; a failed refresh is retried later.
        known.refreshAt = time + RETRY_MS;
        askAndKeep(key, ask).catch(refreshFailed);
      }
      return known;
    },
  };
}

function createShare<T>() {
  const runs = new Map<string, Promise<T>>();
  return (key: string, work: () => Promise<T>): Promise<T> => {
    const run = runs.get(key) ?? work().finally(() => void runs.delete(key));
    runs.set(key, run);
    return run;
  };
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

function validUntil(thisUpdate: Date, nextUpdate: Date, now: Date): number {
  const [begin, end, time] = [thisUpdate.getTime(), nextUpdate.getTime(), now.getTime()];
  if (Number.isNaN(begin)) throw new Error('the answer has no readable date');
  if (begin > time + SKEW_MS) throw new Error('the answer is dated in the future');
  if (begin < time - MAX_AGE_MS) throw new Error('the answer is too old');
  if (!(end > time - SKEW_MS)) throw new Error('the answer is stale');
  if (end < begin - SKEW_MS) throw new Error('the answer ends before it begins');
  return end;
}

/** When to ask again: after three quarters of the time to the end, and at least twice a day. */
function refreshTime(now: number, end: number): number {
  return now + Math.min((end - now) * 0.75, REFRESH_MS);
}
