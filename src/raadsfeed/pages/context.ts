import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PageLink } from '../../html/page.ts';
import {
  COLLECTIONS,
  normaliseOrganisatiecode,
  RESOURCE_TYPES,
  type Resource,
  type ResourceType,
} from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { RequireIndex } from '../follow-index.ts';
import { type FeedOrganisation, readOrganisation } from '../store/state.ts';

export const HOME = '/raad';
export const BEGIN: PageLink = { href: HOME, text: 'Begin' };

export type PagesContext = ReturnType<typeof createContext>;

/** @param requireIndex to be called before reading from the index */
export function createContext(app: FastifyInstance, requireIndex: RequireIndex) {
  const { stateCache, responses, mountUrl, completenessOf } = app.feed;
  return {
    requireIndex,
    stateCache,
    responses,
    completenessOf,
    clock: app.clock,
    // The primary: a redaction takes effect with its commit.
    pool: app.database.publicPool,
    baseUrl: app.publicBaseUrl,
    apiUrl: mountUrl,
  };
}

export type Subject = Resource & { readonly resourceType: ResourceType };

export const pagePath = ({ resourceType, organisatiecode, bronidentificatie }: Subject): string =>
  `${HOME}/${organisatiecode}/${COLLECTIONS[resourceType]}/${encodeURIComponent(bronidentificatie)}`;

export const linkedPath = (of: Subject, wanted: ResourceType): string => `${pagePath(of)}/${COLLECTIONS[wanted]}`;

export const typeOf = (collection: string | undefined): ResourceType | undefined =>
  RESOURCE_TYPES.find((type) => COLLECTIONS[type] === collection);

export const organisationPath = (code: string): string => `${HOME}/${code}`;

/** The breadcrumb trail of a page: the front page, the organisation, and the levels between. */
export const trail = (organisation?: FeedOrganisation, ...between: readonly PageLink[]): PageLink[] => [
  BEGIN,
  ...(organisation === undefined
    ? []
    : [{ href: organisationPath(organisation.organisatiecode), text: organisation.naam }]),
  ...between,
];

/** A path with a query; parameters without a value are left out, and always come in one order. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** A list from a position on; its beginning has no number. */
export const fromPath = (path: string, vanaf: number): string =>
  withQuery(path, { vanaf: vanaf === 0 ? undefined : vanaf });

/** Part of a page from 1 on; the first has no number. */
export const partPath = (path: string, deel: number): string =>
  withQuery(path, { deel: deel === 1 ? undefined : deel });

const names = new Intl.Collator('nl', { numeric: true });

export const byName = (organisations: readonly FeedOrganisation[]): FeedOrganisation[] =>
  organisations.toSorted((a, b) => names.compare(a.naam, b.naam));

/** Hours without news after which a source counts as out of date. */
const STALE_HOURS = 24;

/** Whether an organisation from elsewhere has not been updated for a day. */
export function isStale({ herkomstSoort, laatstBijgewerkt }: FeedOrganisation, now: Date): boolean {
  if (herkomstSoort === 'eigen') return false;
  return laatstBijgewerkt === null || now.getTime() - laatstBijgewerkt.getTime() > STALE_HOURS * 3_600_000;
}

type Query = Readonly<Record<string, unknown>>;

export type PagesRequest = FastifyRequest<{ Params: Record<string, string>; Querystring: Query }>;

/** A parameter of the query, the first if repeated; `undefined` when it is empty or too long to mean anything. */
export function readText(query: Query, name: string): string | undefined {
  const value = [query[name]].flat()[0];
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined;
}

/** A whole number of the query; `otherwise` when absent. @throws {Problem} 404 when it is not a whole number, or too low */
export function readNumber<T>(query: Query, name: string, least: number, otherwise: T): number | T {
  const text = readText(query, name);
  if (text === undefined) return otherwise;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least)) throw new Problem(platformProblems.notFound);
  return number;
}

/** @throws {Problem} 404 when the feed does not have it */
export async function findOrganisation({ pool }: PagesContext, code: string | undefined): Promise<FeedOrganisation> {
  const wanted = normaliseOrganisatiecode(code ?? '');
  const organisation = wanted === undefined ? undefined : await readOrganisation(pool, wanted);
  if (organisation === undefined)
    throw new Problem(platformProblems.notFound, { detail: 'Deze organisatie staat hier niet.' });
  return organisation;
}
