import type { FastifyRequest } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import type { Brand } from '../../html/brand.ts';
import { link, type PageLink, type Site } from '../../html/page.ts';
import {
  COLLECTIONS,
  normaliseOrganisatiecode,
  RESOURCE_TYPES,
  type Resource,
  type ResourceType,
  resourcePath,
} from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import { html } from '../../lib/template.ts';
import type { Clock } from '../../lib/time.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { Config } from '../../settings/read-config.ts';
import type { ResponseCache } from '../feed/response-cache.ts';
import type { FeedStateCache } from '../feed/state-cache.ts';
import { type FeedOrganisation, readOrganisation, type SourceCompleteness } from '../store/state.ts';

export const HOME = '/raad';
const BEGIN: PageLink = { href: HOME, text: 'Begin' };

export interface PagesContext {
  readonly stateCache: FeedStateCache;
  /** Reads the primary: a redaction takes effect with its commit. */
  readonly pool: Pool;
  readonly responses: ResponseCache;
  readonly settings: Config['raadsfeed'];
  readonly clock: Clock;
  readonly site: Site;
  /** Address of this service without a trailing slash. */
  readonly baseUrl: () => string;
  readonly apiUrl: () => string;
  /** Call it before reading from the index. @throws {Problem} 503 while a large part of the feed is not in it */
  readonly requireIndex: () => Promise<void>;
  /** Completeness of an organisation's data from elsewhere; undefined when nothing is followed here. */
  readonly completenessOf: (organisatiecode: string) => Promise<SourceCompleteness | undefined>;
}

export function createSite(stylesheet: string, api: string, brand: Brand): Site {
  return {
    brand,
    name: 'Raadsinformatie',
    home: HOME,
    stylesheet,
    menu: [
      BEGIN,
      { href: `${HOME}/zoeken?soort=vergaderingen`, text: 'Alle vergaderingen' },
      { href: `${HOME}/zoeken`, text: 'Zoeken' },
      { href: `${HOME}/organisaties`, text: 'Organisaties' },
    ],
    footer: html`<nav aria-label="Voor programma’s"><ul class="kv-menu"><li>${link(`${api}/`, 'Dezelfde gegevens voor programma’s')}</li><li>${link(`${api}/docs`, 'Beschrijving voor programmeurs')}</li><li>${link(`${HOME}/organisaties.csv`, 'Organisaties als CSV')}</li></ul></nav>
<p>Deze informatie is openbaar. Bij elke organisatie leest u waar de gegevens vandaan komen en hoe actueel ze zijn.</p>`,
  };
}

export function pagePath(resourceType: ResourceType, { organisatiecode, bronidentificatie }: Resource): string {
  return `${HOME}/${organisatiecode}/${COLLECTIONS[resourceType]}/${encodeURIComponent(bronidentificatie)}`;
}

/** Path of the list of references to or from a resource. */
export const linkedPath = (of: Resource & { readonly resourceType: ResourceType }, wanted: ResourceType): string =>
  `${pagePath(of.resourceType, of)}/${COLLECTIONS[wanted]}`;

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

export function jsonAddress({ apiUrl }: PagesContext, resourceType: ResourceType, resource: Resource): string {
  return `${apiUrl()}${resourcePath(resourceType, resource)}`;
}

/** A path with a query; parameters without a value are left out, and always come in one order. */
export function withQuery(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Part of a list from a position on; the first part has no number. */
export const fromPath = (path: string, vanaf: number): string =>
  withQuery(path, { vanaf: vanaf === 0 ? undefined : vanaf });

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
