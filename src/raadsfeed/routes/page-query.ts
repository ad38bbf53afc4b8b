/** What all lists of the feed have in common: the query, the addresses of their pages, and how a page ends. */
import type { operations } from '../../contracts/raadsfeed.ts';
import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import type { RecordFilter } from '../store/read-records.ts';

/** Records or resources on a page when the query does not say. */
const DEFAULT_LIMIT = 500;

/** The query parameters of all lists; not every list has all of them. */
type ListQuerystring = Partial<operations['getFeed']['parameters']['query']>;

export interface PageQuery extends RecordFilter {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The query of a list, after the contract has checked it: codes in lower case. */
export function readPageQuery({ query }: { readonly query: ListQuerystring }): PageQuery {
  const { cursor, limit = DEFAULT_LIMIT, organisatiecode, resourceType } = query;
  return {
    cursor,
    limit,
    organisatiecode: organisatiecode === undefined ? undefined : normaliseOrganisatiecode(organisatiecode),
    resourceType,
  };
}

/** Address of a page of a list, with only the parameters that differ from the default, so that one page has one address. */
export function pageUrl(listUrl: string, { cursor, limit, organisatiecode, resourceType }: PageQuery): string {
  const parameters = Object.entries({
    cursor,
    limit: limit === DEFAULT_LIMIT ? undefined : String(limit),
    organisatiecode,
    resourceType,
  });
  const query = parameters.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join('&');
  return query === '' ? listUrl : `${listUrl}?${query}`;
}

/** Texts with commas between, as pieces of a body. */
export function withCommas(texts: readonly string[]): string[] {
  return texts.flatMap((text, i) => (i === 0 ? [text] : [',', text]));
}

/** The last members of a page of a list, its closing brace included. */
export function pageEnd(cursor: string | null, next: string | null): string {
  return `"cursor":${JSON.stringify(cursor)},"hasMore":${cursor !== null},"next":${JSON.stringify(next)}}`;
}

/** `Link` of a list: the next page, when there is one. */
export function nextLink(next: string | null): string | undefined {
  return next === null ? undefined : `<${next}>; rel="next"`;
}
