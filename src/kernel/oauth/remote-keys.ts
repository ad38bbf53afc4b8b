// Keys that another service publishes: fetched, kept for a while, and served from memory while that service is away.
import type { Clock } from '../clock.ts';

/** What the verifier writes: trouble with the issuer's keys, never a token. A pino logger is one. */
export type VerifierLog = { warn(fields: object, message: string): void };

/** As much of `fetch` as is needed here, so that any implementation fits. */
export type FetchJson = (
  url: URL,
  init: { headers: Record<string, string>; redirect: 'error'; signal: AbortSignal },
) => Promise<{
  readonly status: number;
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}>;

/** How a document of the issuer is fetched. */
export type FetchJsonOptions = { fetch: FetchJson; signal: AbortSignal };

/** A set of a hundred keys takes less than 100 KB. */
const maxBytes = 262_144;

/**
 * Fetches a JSON document of at most 256 KiB. Redirects are not followed: the address was configured or published.
 *
 * @throws {Error} for any status but 200, a larger document, or one that is not JSON
 */
export async function fetchJson(url: URL, options: FetchJsonOptions): Promise<unknown> {
  const response = await options.fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: options.signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url.href} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`${url.href} is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new Error(`${url.href} is not JSON`, { cause });
  }
}

/** Everything must arrive within this time (ms). */
const timeoutMs = 5_000;
/** An unknown key, or a refresh that failed, leads to another fetch at most this often (ms). */
const cooldownMs = 30_000;
/** As long as nothing was ever fetched, nobody can be served: try again sooner (ms). */
const coldCooldownMs = 1_000;
/** The part of the cache time after which keys are refreshed in the background, so that nobody has to wait. */
const refreshAhead = 0.8;

type RemoteKeysOptions<T> = {
  /** Fetches and reads the keys. */
  load(signal: AbortSignal): Promise<T>;
  /** How long keys are used without asking again, unless their publisher is away (ms). */
  cacheMs: number;
  clock: Clock;
  log: VerifierLog;
  /** Whose keys, for the log. */
  of: string;
};

type RemoteKeys<T> = {
  /** The keys in use; undefined as long as none were ever fetched. */
  latest(): T | undefined;
  /** Whether they may be used as they are. If not, `freshen` comes first. */
  isFresh(): boolean;
  /** Resolves when the keys are as new as they have to be; never rejects. */
  freshen(): Promise<void>;
  /** Fetches once more for a key that is not there. @param calledAt when it was asked for (ms) */
  refreshForUnknown(calledAt: number): Promise<void>;
  fetchedAt(): Date | undefined;
  close(): void;
};

/** Starts fetching at once, so that the first request need not wait for it. Never throws because of the publisher. */
export function createRemoteKeys<T>(options: RemoteKeysOptions<T>): RemoteKeys<T> {
  const { cacheMs } = options;
  const closed = new AbortController();
  let keys: T | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let unknownAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  const now = () => options.clock.now().getTime();
  const age = () => now() - fetchedAt;
  const isAway = () => failedAt > fetchedAt;
  const isCoolingDown = () => now() - failedAt < (keys === undefined ? coldCooldownMs : cooldownMs);

  async function load(): Promise<void> {
    try {
      keys = await options.load(AbortSignal.any([closed.signal, AbortSignal.timeout(timeoutMs)]));
      fetchedAt = now();
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (err) {
      failedAt = now();
      if (!closed.signal.aborted) options.log.warn({ err }, `the keys of ${options.of} could not be fetched`);
    }
  }

  function refresh(): Promise<void> {
    running ??= load().finally(() => {
      running = undefined;
    });
    return running;
  }

  void refresh();
  return {
    latest: () => keys,
    isFresh: () => keys !== undefined && (age() < cacheMs * refreshAhead || (isAway() && isCoolingDown())),
    async freshen() {
      if (age() < cacheMs * refreshAhead || closed.signal.aborted) return;
      if (running === undefined) {
        if (isCoolingDown()) return;
        void refresh();
      }
      // While the publisher stays away, callers are served from memory and do not wait for every new attempt.
      if (keys === undefined || (age() >= cacheMs && !isAway())) await running;
    },
    async refreshForUnknown(calledAt) {
      if (running !== undefined) return running;
      if (fetchedAt > calledAt || now() - unknownAt < cooldownMs || closed.signal.aborted) return;
      unknownAt = now();
      return refresh();
    },
    fetchedAt: () => (keys === undefined ? undefined : new Date(fetchedAt)),
    close: () => closed.abort(),
  };
}
