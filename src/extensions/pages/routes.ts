/** The addresses of the council information for people, below `/raad`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRecord, type JsonObject } from '../../lib/json/json-value.ts';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { Resource, ResourceType } from '../../raadsfeed/domain/resource.ts';
import { normaliseOrganisatiecode } from '../../raadsfeed/domain/resource.ts';
import { readResource } from '../../raadsfeed/store/read-current.ts';
import { readOrganisation } from '../../raadsfeed/store/state.ts';
import { type Stylesheet, serveStylesheet } from '../shared/html/mount.ts';
import { type Page, renderPage } from '../shared/html/page.ts';
import { anchorOf } from './agenda.ts';
import {
  findOrganisation,
  organisationPath,
  type PagesContext,
  type PagesRequest,
  pagePath,
  readText,
  typeOf,
} from './context.ts';
import { documentPage } from './document.ts';
import { exportRoutes } from './export/routes.ts';
import { frontPage } from './front.ts';
import { readHistory, removedPage } from './history.ts';
import { meetingPage } from './meeting.ts';
import { isMonth } from './months.ts';
import { organisationPage } from './organisation.ts';
import { listItems } from './search/lists.ts';
import { readSearchAddress, searchPage, searchPath } from './search.ts';

/** Seconds that a page may be kept: a redaction reaches those who keep it within this time. */
const MAX_AGE_SECONDS = 5;
/** The index follows the feed a moment later, and the front page shows coming and past meetings. */
const KEPT_MS = 1000;
/** A page takes about the memory of so many records of the feed. */
const PAGE_RECORDS = 50;

interface Made {
  readonly page: Page;
  readonly status?: number;
}

export function pagesRoutes(app: FastifyInstance, context: PagesContext, stylesheet: Stylesheet): void {
  const { site, responses, heads } = context;
  const send = (request: FastifyRequest, reply: FastifyReply, make: () => Promise<Made>): Promise<FastifyReply> =>
    responses.answer(request, reply, PAGE_RECORDS, async () => {
      // First, so that a redaction in between is not missed.
      const head = await heads.head();
      const { page, status } = await make();
      return {
        body: renderPage(site, page),
        ...{ status, head, maxAgeSeconds: MAX_AGE_SECONDS, keptMs: KEPT_MS, contentType: 'text/html; charset=utf-8' },
        link: page.json === undefined ? undefined : `<${page.json}>; rel="alternate"; type="application/json"`,
      };
    });
  const page = (path: string, handler: (request: PagesRequest) => Promise<Page>): void => {
    app.get(path, (request: PagesRequest, reply) =>
      send(request, reply, async () => ({ page: await handler(request) })),
    );
  };

  responses.register(app);
  serveStylesheet(app, stylesheet);
  exportRoutes(app, context);
  page('/', () => frontPage(context));
  page('/zoeken', async ({ query }) => searchPage(context, readSearchAddress(query)));
  page('/:organisatiecode', async ({ params, query }) => {
    const organisation = await findOrganisation(context, params.organisatiecode);
    const maand = readText(query, 'maand');
    if (maand !== undefined && !isMonth(maand)) throw new Problem(platformProblems.notFound);
    return organisationPage(context, organisation, maand, readText(query, 'gremium'));
  });
  app.get('/:organisatiecode/:collection', async (request: PagesRequest, reply) => {
    const type = typeOf(request.params.collection);
    const organisation = await findOrganisation(context, request.params.organisatiecode);
    if (type === undefined) throw new Problem(platformProblems.notFound);
    const { organisatiecode: organisatie } = organisation;
    const documents = searchPath({ organisatie, soort: 'informatieobjecten' });
    return reply.redirect(type === 'Informatieobject' ? documents : organisationPath(organisatie), 302);
  });
  app.get('/:organisatiecode/:collection/:bronidentificatie', async (request: PagesRequest, reply) => {
    const { collection, bronidentificatie = '' } = request.params;
    const resourceType = typeOf(collection);
    const code = normaliseOrganisatiecode(request.params.organisatiecode ?? '');
    if (resourceType === undefined || code === undefined) throw new Problem(platformProblems.notFound);
    const resource = { organisatiecode: code, bronidentificatie };
    // An item is shown on the page of its meeting.
    const [item] =
      resourceType === 'Agendapunt' ? await listItems(context.pool, { ...resource, resourceType, limit: 1 }) : [];
    if (item === undefined) return send(request, reply, () => resourcePage(context, resourceType, resource));
    if (item.vergadering === null) throw new Problem(platformProblems.notFound);
    const meeting = pagePath('Vergadering', { organisatiecode: code, bronidentificatie: item.vergadering });
    return reply.redirect(`${meeting}#${anchorOf(item)}`, 302);
  });
}

const PAGES: Partial<Record<ResourceType, typeof documentPage>> = {
  Vergadering: meetingPage,
  Informatieobject: documentPage,
};

/** What the feed does not have any more is 410. @throws {Problem} 404 when it never had it */
async function resourcePage(context: PagesContext, resourceType: ResourceType, resource: Resource): Promise<Made> {
  const { pool } = context;
  const [data, organisation, history] = await Promise.all([
    readData(context, resourceType, resource),
    readOrganisation(pool, resource.organisatiecode),
    readHistory(pool, resourceType, resource),
  ]);
  if (history.length === 0 || organisation === undefined) throw new Problem(platformProblems.notFound);
  if (data === undefined) return { page: removedPage(resourceType, organisation, history), status: 410 };
  const page = await PAGES[resourceType]?.(context, organisation, resource, data, history);
  if (page === undefined) throw new Problem(platformProblems.notFound);
  return { page };
}

async function readData(
  { pool }: PagesContext,
  resourceType: ResourceType,
  resource: Resource,
): Promise<JsonObject | undefined> {
  const { resource: found } = await readResource(pool, { ...resource, resourceType });
  if (found === undefined) return undefined;
  const data: unknown = JSON.parse(found.dataText);
  return isRecord(data) ? data : undefined;
}
