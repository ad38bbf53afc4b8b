/** What a feed says of itself, and where it is found. */
import { isRecord } from '../kernel/json-value.ts';
import { OutboundError } from '../kernel/outbound/address-guard.ts';
import type { OutboundClient } from '../kernel/outbound/outbound-client.ts';
import { normaliseOrganisatiecode } from '../raadsfeed/domain/resource.ts';
import { FeedFault } from './feed-fault.ts';

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
  if (!isRecord(json)) throw new FeedFault('document', 'the service document is no object');
  const { rol, organisaties, streamUrl } = json;
  if (rol !== 'bronhouder' && rol !== 'aggregator') throw new FeedFault('document', 'rol is no role');
  if (!Array.isArray(organisaties)) throw new FeedFault('document', 'organisaties is no list');
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
  if (!isRecord(json)) throw new FeedFault('document', 'the service document is no object');
  const { feedUrl, snapshotUrl } = json;
  return { feedUrl: address('feedUrl', feedUrl, at), snapshotUrl: address('snapshotUrl', snapshotUrl, at) };
}

/** The well-known names: that of the interface first, then that of the published draft. */
const WELL_KNOWN = ['/.well-known/council-feed', '/.well-known/ori-feed'];

/** Where to look: at an address with a path itself first, else at the well-known names of the host, and at its root. */
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
 * to another host: that is its work.
 * @param ask how an address is asked
 * @param read what an answer has to be
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
  if (organisatiecode === undefined) throw new FeedFault('document', 'an organisation has a code that is none');
  const { naam, laatstBijgewerkt } = value;
  const time = typeof laatstBijgewerkt === 'string' ? Date.parse(laatstBijgewerkt) : Number.NaN;
  return {
    organisatiecode,
    naam: typeof naam === 'string' && naam !== '' ? naam.slice(0, MAX_NAME).replaceAll('\0', '') : organisatiecode,
    laatstBijgewerkt: Number.isNaN(time) ? null : new Date(time),
  };
}

function address(name: string, value: unknown, at: string): string {
  if (typeof value !== 'string' || !URL.canParse(value, at)) throw new FeedFault('document', `${name} is no address`);
  const url = new URL(value, at);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new FeedFault('document', `${name} is no address of the web`);
  }
  if (url.username !== '' || url.password !== '') throw new FeedFault('document', `${name} holds credentials`);
  return URL.canParse(value) ? value : url.href;
}
