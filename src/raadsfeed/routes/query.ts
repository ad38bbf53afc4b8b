import type { FastifyRequest } from 'fastify';
import { normaliseOrganisatiecode } from '../domain/resource.ts';
import type { ResourceType } from '../domain/resource-type.ts';
import type { PageQuery } from './page-links.ts';

export const DEFAULT_LIMIT = 500;

/** What the contract allows in the query of a list. */
export interface ListQuerystring {
  readonly cursor?: string;
  readonly limit: number;
  readonly organisatiecode?: string;
  readonly resourceType?: ResourceType;
}

/** The query of a list, after the contract has checked it: codes in lower case, `limit` only when it was asked for. */
export function readPageQuery(request: FastifyRequest<{ Querystring: ListQuerystring }>): PageQuery {
  const { cursor, limit, organisatiecode, resourceType } = request.query;
  return {
    cursor,
    limit: limit === DEFAULT_LIMIT ? undefined : limit,
    organisatiecode: organisatiecode === undefined ? undefined : normaliseOrganisatiecode(organisatiecode),
    resourceType,
  };
}
