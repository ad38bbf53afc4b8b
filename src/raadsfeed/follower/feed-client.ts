/** Reads a council feed of anyone over HTTP: deadlines, limits, and the patience that its answers ask for. */
import { setTimeout as wait } from 'node:timers/promises';

/** The feed cannot be followed; the message is for people. */
export class FollowError extends Error {
  readonly code: 'REFUSED' | 'INVALID_CURSOR' | 'NOT_A_FEED' | 'TOO_LARGE';

  constructor(code: FollowError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FollowError';
    this.code = code;
  }
}

export interface FeedAnswer {
  /** `undefined`: nothing has changed since the given tag (304). */
  readonly body: Record<string, unknown> | undefined;
  readonly etag: string | undefined;
  /** How long the answer holds, in seconds; absent when it does not say. */
  readonly maxAgeSeconds: number | undefined;
}

export interface FeedClientOptions {
  readonly signal: AbortSignal;
  /** Hears why a request is done again, and after how many milliseconds. */
  readonly waiting: (reason: string, ms: number) => void;
}

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 256 * 1024 * 1024;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 300_000;

/**
 * Gets JSON, again and again while the other side is away or busy; `Retry-After` is the least that is waited.
 * @throws {FollowError} when waiting would not help
 * @throws the signal's reason
 */
export async function getFeedJson(
  url: string,
  etag: string | undefined,
  options: FeedClientOptions,
): Promise<FeedAnswer> {
  const { signal, waiting } = options;
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    const result = await tryOnce(url, etag, signal);
    if ('answer' in result) return result.answer;
    const backoff = Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
    const ms = Math.max(backoff, result.retryAfterMs);
    waiting(result.reason, ms);
    await wait(ms, undefined, { signal });
  }
}

type Attempt = { readonly answer: FeedAnswer } | { readonly reason: string; readonly retryAfterMs: number };

async function tryOnce(url: string, etag: string | undefined, signal: AbortSignal): Promise<Attempt> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    text = await readText(response);
  } catch (error) {
    if (error instanceof FollowError) throw error;
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return { reason: `${url} cannot be reached${cause}`, retryAfterMs: 0 };
  }
  const { status, headers } = response;
  const kept = { etag: headers.get('etag') ?? undefined, maxAgeSeconds: maxAge(headers.get('cache-control')) };
  if (status === 304) return { answer: { body: undefined, ...kept } };
  if (status === 200) return { answer: { body: parseObject(url, text), ...kept } };
  if (status === 429 || status >= 500) {
    return { reason: `${url} answers ${status}`, retryAfterMs: retryAfterMs(headers.get('retry-after')) };
  }
  throw refusal(url, status, text);
}

/** Reads no more than is reasonable: what is on the other side need not be friendly. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new FollowError('TOO_LARGE', `${response.url} answers more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(url: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value));
  } catch {
    // Told below, as for any other answer that is no object.
  }
  throw new FollowError('NOT_A_FEED', `${url} does not answer with a JSON object`);
}

function refusal(url: string, status: number, text: string): FollowError {
  let type = '';
  let detail = '';
  try {
    const problem: unknown = JSON.parse(text);
    if (typeof problem === 'object' && problem !== null) {
      if ('type' in problem && typeof problem.type === 'string') type = problem.type;
      if ('detail' in problem && typeof problem.detail === 'string') detail = `: ${problem.detail}`;
    }
  } catch {
    // No problem document; the status says enough.
  }
  const code = status === 400 && /ongeldige-cursor\/?$/.test(type) ? 'INVALID_CURSOR' : 'REFUSED';
  return new FollowError(code, `${url} answers ${status}${detail}`);
}

function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

function maxAge(header: string | null): number | undefined {
  const found = /(?:^|[\s,])max-age=(\d+)/.exec(header ?? '')?.[1];
  return found === undefined ? undefined : Number(found);
}
