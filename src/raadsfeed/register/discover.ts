import type { OutboundClient } from '../../kernel/outbound/outbound-client.ts';
import { OutboundError } from '../../kernel/outbound/outbound-error.ts';
import { readServiceAnswer, type SourceDocument } from '../aggregator/feed/service-answer.ts';
import { SourceFault } from '../aggregator/source-fault.ts';

/** The well-known names: that of the interface first, then that of the published draft. */
const WELL_KNOWN = ['/.well-known/council-feed', '/.well-known/ori-feed'];

/** A feed that was found. */
export interface Discovered {
  /** Address of its service document. */
  readonly serviceUrl: string;
  readonly document: SourceDocument;
}

/**
 * Finds the service document of a domain, or of an address that may be one itself. The well-known address on an own domain may lead
 * to another host: that is its work.
 * @throws {OutboundError} {SourceFault} the first failure, when nothing was found
 */
export async function discoverFeed(client: OutboundClient, given: string, signal: AbortSignal): Promise<Discovered> {
  let first: unknown;
  for (const url of addresses(given)) {
    try {
      const answer = await client.getJson({ url, signal, redirects: 'any-host' });
      if (!answer.changed) throw new OutboundError('status', 'status 304');
      return { serviceUrl: answer.url.replace(/\/+$/, ''), document: readServiceAnswer(answer.json) };
    } catch (error) {
      if (!(error instanceof OutboundError) && !(error instanceof SourceFault)) throw error;
      first ??= error;
    }
  }
  throw first;
}

/** Where to look: at the address itself when it has a path, else at the well-known names of the host. */
function addresses(given: string): readonly string[] {
  const isAddress = /^https?:\/\//i.test(given);
  const text = isAddress ? given : `https://${given}`;
  if (!URL.canParse(text)) return [text];
  const url = new URL(text);
  const names = WELL_KNOWN.map((path) => new URL(path, url).href);
  return isAddress && url.pathname !== '/' ? [url.href, ...names] : names;
}
