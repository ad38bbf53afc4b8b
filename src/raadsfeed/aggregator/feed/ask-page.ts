import { isRecord } from '../../../kernel/outbound/is-record.ts';
import type { OutboundAnswer } from '../../../kernel/outbound/outbound-client.ts';
import { OutboundError } from '../../../kernel/outbound/outbound-error.ts';
import type { AggregatorNeeds } from '../needs.ts';
import { SourceFault } from '../source-fault.ts';

export interface PageRequest {
  readonly url: string;
  readonly cursor: string | null;
  readonly limit: number;
  readonly etag?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Asks a source for a page of its feed or snapshot.
 * @throws {SourceFault} `cursor-refused`; {OutboundError}
 */
export async function askPage(needs: AggregatorNeeds, request: PageRequest): Promise<OutboundAnswer> {
  const url = new URL(request.url);
  url.searchParams.set('limit', String(request.limit));
  if (request.cursor !== null) url.searchParams.set('cursor', request.cursor);
  try {
    return await needs.client.getJson({
      url: url.href,
      signal: request.signal,
      etag: request.etag,
      redirects: 'same-host',
    });
  } catch (error) {
    if (request.cursor !== null && error instanceof OutboundError && refusesCursor(error)) {
      throw new SourceFault('cursor-refused', 'the source does not know the cursor any more');
    }
    throw error;
  }
}

function refusesCursor({ status, problem }: OutboundError): boolean {
  if (status === 410) return true;
  if (status !== 400 || !isRecord(problem)) return false;
  const { type, invalidParams } = problem;
  if (typeof type === 'string' && /ongeldige-cursor\/?$/.test(type)) return true;
  return Array.isArray(invalidParams) && invalidParams.some((param) => isRecord(param) && param.name === 'cursor');
}
