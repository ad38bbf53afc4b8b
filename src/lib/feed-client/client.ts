/** Finds a council feed and requests its pages over HTTP; `askPatiently` retries as its answers ask for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../json/json-value.ts';
import {
  backoffMs,
  type OutboundAnswer,
  type OutboundClient,
  type OutboundRequest,
} from '../outbound/outbound-client.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { normaliseOrganisatiecode } from './organisatiecode.ts';

export interface SourceOrganisation {
  readonly organisatiecode: string;
  readonly naam: string;
  readonly laatstBijgewerkt: Date | null;
}

/** Where the parts of a feed are. */
export interface FeedAddresses {
  readonly feedUrl: string;
  readonly snapshotUrl: string;
}

/** What a feed says of itself, as far as we need it. */
export interface ServiceDocument extends FeedAddresses {
  readonly rol: 'bronhouder' | 'aggregator';
  readonly streamUrl: string | null;
  readonly organisaties: readonly SourceOrganisation[];
}

const MAX_NAME = 500;

/**
 * Reads a service document.
 * @param at where it was found: addresses may be relative to it
 * @throws {FeedFault} `document`
 */
export function readServiceDocument(json: unknown, at: string): ServiceDocument {
  if (!isRecord(json)) throw new FeedFault('document', 'the service document is not an object');
  const { rol, organisaties, streamUrl } = json;
  if (rol !== 'bronhouder' && rol !== 'aggregator') throw new FeedFault('document', 'rol is not a known role');
  if (!Array.isArray(organisaties)) throw new FeedFault('document', 'organisaties is not a list');
  return {
    ...readAddresses(json, at),
    rol,
    streamUrl: streamUrl === undefined || streamUrl === null ? null : address('streamUrl', streamUrl, at),
    organisaties: organisaties.map(organisation),
  };
}

/**
 * Reads only where the feed is.
 * @throws {FeedFault} `document`
 */
export function readAddresses(json: unknown, at: string): FeedAddresses {
  if (!isRecord(json)) throw new FeedFault('document', 'the service document is not an object');
  const { feedUrl, snapshotUrl } = json;
  return { feedUrl: address('feedUrl', feedUrl, at), snapshotUrl: address('snapshotUrl', snapshotUrl, at) };
}

/** The well-known names: ours first, then that of the published draft. */
const WELL_KNOWN = ['/.well-known/council-feed', '/.well-known/ori-feed'];

/** Addresses to try: one with a path first, else the well-known names of the host, and its root. */
function candidates(given: string): readonly string[] {
  const isAddress = /^https?:\/\//i.test(given);
  const text = isAddress ? given : `https://${given}`;
  if (!URL.canParse(text)) return [text];
  const url = new URL(text);
  const names = WELL_KNOWN.map((path) => new URL(path, url).href);
  return isAddress && (url.pathname !== '/' || url.search !== '') ? [url.href, ...names] : [...names, url.href];
}

/**
 * Finds the service document of a domain, or of an address that may be one itself. The well-known address on an own domain may lead
 * to another host: that is its purpose.
 * @param ask requests an address
 * @param read makes a document of an answer, or throws
 * @throws {OutboundError} {FeedFault} the first failure, when nothing was found
 */
export async function discover<T>(
  ask: (url: string) => ReturnType<OutboundClient['getJson']>,
  given: string,
  read: (json: unknown, at: string) => T,
): Promise<{ readonly serviceUrl: string; readonly document: T }> {
  let first: unknown;
  for (const url of candidates(given)) {
    try {
      const answer = await ask(url);
      if (!answer.changed) throw new OutboundError('status', 'status 304');
      return { serviceUrl: answer.url.replace(/\/+$/, ''), document: read(answer.json, answer.url) };
    } catch (error) {
      if (!(error instanceof OutboundError) && !(error instanceof FeedFault)) throw error;
      first ??= error;
    }
  }
  throw first;
}

function organisation(value: unknown): SourceOrganisation {
  if (!isRecord(value) || typeof value.organisatiecode !== 'string') {
    throw new FeedFault('document', 'an organisation has no code');
  }
  const organisatiecode = normaliseOrganisatiecode(value.organisatiecode);
  if (organisatiecode === undefined) throw new FeedFault('document', 'an organisation has an invalid code');
  const { naam, laatstBijgewerkt } = value;
  const time = typeof laatstBijgewerkt === 'string' ? Date.parse(laatstBijgewerkt) : Number.NaN;
  return {
    organisatiecode,
    naam: typeof naam === 'string' && naam !== '' ? naam.slice(0, MAX_NAME).replaceAll('\0', '') : organisatiecode,
    laatstBijgewerkt: Number.isNaN(time) ? null : new Date(time),
  };
}

function address(name: string, value: unknown, at: string): string {
  if (typeof value !== 'string' || !URL.canParse(value, at))
    throw new FeedFault('document', `${name} is not an address`);
  const url = new URL(value, at);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new FeedFault('document', `${name} is not an http(s) address`);
  }
  if (url.username !== '' || url.password !== '') throw new FeedFault('document', `${name} holds credentials`);
  return URL.canParse(value) ? value : url.href;
}

interface PageRequest {
  readonly url: string;
  readonly cursor: string | null;
  /** Absent: the default of the feed. */
  readonly limit?: number | undefined;
  readonly etag?: string | undefined;
  readonly redirects: OutboundRequest['redirects'];
  readonly signal: AbortSignal;
}

/**
 * Asks for a page of a feed or snapshot.
 * @throws {FeedFault} `cursor-refused`; {OutboundError}
 */
export async function askPage(client: Pick<OutboundClient, 'getJson'>, request: PageRequest): Promise<OutboundAnswer> {
  const { cursor, limit, etag, redirects, signal } = request;
  const url = new URL(request.url);
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

/** Longest text of a feed that is shown. */
const MAX_DETAIL = 500;

function detailOf({ problem }: OutboundError): string {
  const detail = isRecord(problem) ? problem.detail : undefined;
  return typeof detail === 'string' ? `: ${detail.slice(0, MAX_DETAIL)}` : '';
}

export interface Patience {
  readonly signal: AbortSignal;
  /** Called with the reason of a retry, and the milliseconds until it. */
  readonly waiting: (reason: string, ms: number) => void;
}

const BACKOFF = { firstMs: 1000, maxMs: 300_000 };

/**
 * Retries while the feed is unavailable or busy, and waits at least `Retry-After`. A cursor that is refused without a reason is tried a
 * second time.
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

/** Why a retry may help; `undefined` when it will not. */
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

/** What is wrong with a feed, beside the faults of the connection (`OutboundFault`). */
export type FeedFaultCode =
  | 'document' // its service document is not one
  | 'organisation-missing' // its service document names none of the organisations that are taken from it
  | 'own-feed' // the source is this very feed
  | 'page' // an answer is not a page of the draft
  | 'numbers' // numbers go back, or one is missing that no redaction names
  | 'cursor-stands-still' // a page with more to come, and no cursor to continue at
  | 'cursor-circle' // its cursors come back to where they were
  | 'snapshot-endless' // a snapshot with more pages or records than there can be
  | 'cursor-refused' // it does not know the cursor any more
  | 'records' // records that cannot be taken over, or whose hash does not match
  | 'refused'; // it answers with a status that waiting does not change

/** A feed that breaks the specification, or refuses for good. */
export class FeedFault extends Error {
  override readonly name = 'FeedFault';
  readonly code: FeedFaultCode;
  /** Of `cursor-refused`: the answer says so itself; a bare 400 may have another cause, so it is asked again. */
  readonly certain: boolean;
  constructor(code: FeedFaultCode, message: string, { certain = true }: { readonly certain?: boolean } = {}) {
    super(message);
    this.code = code;
    this.certain = certain;
  }
}
