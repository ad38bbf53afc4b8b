/** The service document of a council feed: finding and reading it, by the published draft. */
import { isRecord, type JsonObject } from '../json/json-value.ts';
import type { OutboundClient } from '../outbound/outbound-client.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { normaliseOrganisatiecode } from './resource.ts';

export interface SourceOrganisation {
  readonly organisatiecode: string;
  readonly naam: string;
  readonly laatstBijgewerkt: Date | null;
}

export interface FeedAddresses {
  readonly feedUrl: string;
  readonly snapshotUrl: string;
}

export interface ServiceDocument extends FeedAddresses {
  readonly rol: 'bronhouder' | 'aggregator';
  readonly streamUrl: string | null;
  readonly organisaties: readonly SourceOrganisation[];
}

const MAX_NAME = 500;

/** @param at where the document was found: its addresses may be relative to it @throws {FeedFault} `document` */
export function readServiceDocument(json: unknown, at: string): ServiceDocument {
  const { rol, organisaties, streamUrl = null } = asDocument(json);
  if (rol !== 'bronhouder' && rol !== 'aggregator') throw new FeedFault('document', 'rol is not a known role');
  if (!Array.isArray(organisaties)) throw new FeedFault('document', 'organisaties is not a list');
  return {
    ...readAddresses(json, at),
    rol,
    streamUrl: streamUrl === null ? null : address('streamUrl', streamUrl, at),
    organisaties: organisaties.map(organisation),
  };
}

export function readAddresses(json: unknown, at: string): FeedAddresses {
  const { feedUrl, snapshotUrl } = asDocument(json);
  return { feedUrl: address('feedUrl', feedUrl, at), snapshotUrl: address('snapshotUrl', snapshotUrl, at) };
}

function asDocument(json: unknown): JsonObject {
  if (!isRecord(json)) throw new FeedFault('document', 'the service document is not an object');
  return json;
}

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
 * Finds the service document of a domain, or of an address that may be one. The well-known address may redirect to another host: its purpose.
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
      return { serviceUrl: answer.url.replace(/(?<!\/)\/+$/, ''), document: read(answer.json, answer.url) };
    } catch (error) {
      if (!(error instanceof OutboundError) && !(error instanceof FeedFault)) throw error;
      first ??= error;
    }
  }
  throw first;
}

function organisation(value: unknown): SourceOrganisation {
  if (!isRecord(value) || typeof value.organisatiecode !== 'string')
    throw new FeedFault('document', 'an organisation has no code');
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
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new FeedFault('document', `${name} is not an http(s) address`);
  if (url.username !== '' || url.password !== '') throw new FeedFault('document', `${name} holds credentials`);
  return URL.canParse(value) ? value : url.href;
}

/** The fault of a feed, beside the faults of the connection (`OutboundFault`). */
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

/** A feed that violates the specification, or refuses permanently. */
export class FeedFault extends Error {
  override readonly name = 'FeedFault';
  readonly code: FeedFaultCode;
  /** For `cursor-refused`: the answer says so; a bare 400 may have another cause, so the request is repeated. */
  readonly certain: boolean;
  constructor(code: FeedFaultCode, message: string, certain = true) {
    super(message);
    this.code = code;
    this.certain = certain;
  }
}
