/** Asks a council feed over HTTP for its pages; `askPatiently` has the patience that its answers ask for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../kernel/json-value.ts';
import { OutboundError } from '../kernel/outbound/address-guard.ts';
import {
  backoffMs,
  type OutboundAnswer,
  type OutboundClient,
  type OutboundRequest,
} from '../kernel/outbound/outbound-client.ts';
import { FeedFault } from './feed-fault.ts';

export interface PageRequest {
  readonly url: string;
  readonly cursor: string | null;
  /** Absent: as the feed likes. */
  readonly limit?: number | undefined;
  /** Other members of the query. */
  readonly query?: URLSearchParams | undefined;
  readonly etag?: string | undefined;
  readonly redirects: OutboundRequest['redirects'];
  readonly signal: AbortSignal;
}

/**
 * Asks for a page of a feed or snapshot.
 * @throws {FeedFault} `cursor-refused`; {OutboundError}
 */
export async function askPage(client: Pick<OutboundClient, 'getJson'>, request: PageRequest): Promise<OutboundAnswer> {
  const { cursor, limit, query, etag, redirects, signal } = request;
  const url = new URL(request.url);
  for (const [name, value] of query ?? []) url.searchParams.set(name, value);
  if (limit !== undefined) url.searchParams.set('limit', String(limit));
  if (cursor !== null) url.searchParams.set('cursor', cursor);
  try {
    return await client.getJson({ url: url.href, signal, etag, redirects });
  } catch (error) {
    if (cursor !== null && error instanceof OutboundError && (error.status === 400 || error.status === 410)) {
      const certain = error.status === 410 || namesCursor(error.problem);
      throw new FeedFault('cursor-refused', `the cursor is refused with status ${error.status}${detailOf(error)}`, {
        certain,
      });
    }
    throw error;
  }
}

function namesCursor(problem: unknown): boolean {
  if (!isRecord(problem)) return false;
  const { type, invalidParams } = problem;
  if (typeof type === 'string' && /ongeldige-cursor\/?$/.test(type)) return true;
  return Array.isArray(invalidParams) && invalidParams.some((param) => isRecord(param) && param.name === 'cursor');
}

/** Longest text of another that is shown. */
const MAX_DETAIL = 500;

function detailOf({ problem }: OutboundError): string {
  const detail = isRecord(problem) ? problem.detail : undefined;
  return typeof detail === 'string' ? `: ${detail.slice(0, MAX_DETAIL)}` : '';
}

export interface Patience {
  readonly signal: AbortSignal;
  /** Hears why a call is done again, and after how many milliseconds. */
  readonly waiting: (reason: string, ms: number) => void;
}

const BACKOFF = { firstMs: 1000, maxMs: 300_000 };

/**
 * Calls again and again while the other side is away or busy; `Retry-After` is the least that is waited. A cursor that is refused
 * without a reason is asked with a second time.
 * @param url for people
 * @throws {FeedFault} when waiting would not help
 * @throws the signal's reason
 */
export async function askPatiently<T>(url: string, call: () => Promise<T>, { signal, waiting }: Patience): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      const reason = mayPass(error, failures);
      if (reason === undefined) throw asFault(error, url);
      const ms = backoffMs(BACKOFF, failures, error instanceof OutboundError ? error.retryAfterMs : 0);
      waiting(`${url} ${reason}`, ms);
      await sleep(ms, undefined, { signal });
    }
  }
}

/** Why it may be different the next time; `undefined` when it will not. */
function mayPass(error: unknown, failures: number): string | undefined {
  if (error instanceof FeedFault) {
    return error.code === 'cursor-refused' && !error.certain && failures === 1 ? 'refuses the cursor' : undefined;
  }
  if (!(error instanceof OutboundError)) return undefined;
  const { code, status = 0, message } = error;
  if (code === 'status') return status === 429 || status >= 500 ? `answers ${status}` : undefined;
  return ['unreachable', 'timeout', 'broken-off'].includes(code) ? `cannot be reached: ${message}` : undefined;
}

function asFault(error: unknown, url: string): unknown {
  if (!(error instanceof OutboundError)) return error;
  const { status, message } = error;
  return new FeedFault(
    'refused',
    status === undefined ? `${url}: ${message}` : `${url} answers ${status}${detailOf(error)}`,
  );
}
