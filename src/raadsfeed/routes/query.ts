/** The query of a list, and the addresses of its pages. */
import type { operations } from '../../contracts/raadsfeed.ts';
import { normaliseOrganisatiecode } from '../domain/resource.ts';
import type { FeedQuery } from '../feed/page.ts';

export const DEFAULT_LIMIT = 500;

/** What the contract allows in the query of a list; one may leave out what another has. */
export type ListQuerystring = Partial<operations['getFeed']['parameters']['query']>;

/** The parameters that made a page, for the address of the next one. */
export type PageQuery = Omit<FeedQuery, 'limit'> & { readonly limit?: number | undefined };

/** The query of a list, after the contract has checked it: codes in lower case, `limit` only when it was asked for. */
export function readPageQuery({ query }: { readonly query: ListQuerystring }): PageQuery {
  const { cursor, limit, organisatiecode, resourceType } = query;
  return {
    cursor,
    limit: limit === DEFAULT_LIMIT ? undefined : limit,
    organisatiecode: organisatiecode === undefined ? undefined : normaliseOrganisatiecode(organisatiecode),
    resourceType,
  };
}

/** Address of a page of a list. Only what was asked for stands in it, so that one page has one address. */
export function pageUrl(listUrl: string, { cursor, limit, organisatiecode, resourceType }: PageQuery): string {
  const parameters = new URLSearchParams();
  if (cursor !== undefined) parameters.set('cursor', cursor);
  if (limit !== undefined) parameters.set('limit', String(limit));
  if (organisatiecode !== undefined) parameters.set('organisatiecode', organisatiecode);
  if (resourceType !== undefined) parameters.set('resourceType', resourceType);
  const query = parameters.toString();
  return query === '' ? listUrl : `${listUrl}?${query}`;
}

/** The last members of a page of a list, its closing brace included. */
export function pageEnd(cursor: string | null, next: string | null): string {
  return `"cursor":${JSON.stringify(cursor)},"hasMore":${cursor !== null},"next":${JSON.stringify(next)}}`;
}

/** `Link` of a list: the next page, when there is one. */
export function nextLink(next: string | null): string | undefined {
  return next === null ? undefined : `<${next}>; rel="next"`;
}
