/** The addresses of the council information for people, below `/raad`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendPage } from '../../http/html/mount.ts';
import type { Page } from '../../http/html/page.ts';
import { type Stylesheet, serveStylesheet } from '../../http/html/style.ts';
import { platformProblems } from '../../http/problems.ts';
import { isRecord, type JsonObject } from '../../kernel/json-value.ts';
import { Problem } from '../../kernel/problem.ts';
import {
  COLLECTIONS,
  normaliseOrganisatiecode,
  RESOURCE_TYPES,
  type Resource,
  type ResourceType,
} from '../domain/resource.ts';
import { readHistory } from '../search/history.ts';
import { findItem } from '../search/lists.ts';
import { readResource } from '../store/read-texts.ts';
import { readOrganisations } from '../store/state.ts';
import { anchorOf } from './agenda.ts';
import { organisationPath, type PagesContext, pagePath } from './context.ts';
import { documentPage, documentsPage, LAST_PAGE } from './document.ts';
import { exportRoutes } from './export/routes.ts';
import { frontPage } from './front.ts';
import { removedPage } from './history.ts';
import { meetingPage } from './meeting.ts';
import { isMonth } from './months.ts';
import { organisationPage } from './organisation.ts';
import { findOrganisation, type PagesRequest, readText } from './request.ts';
import { readSearchAddress, searchPage } from './search.ts';

/** Seconds that a page may be kept: a redaction reaches those who keep it within this time. */
const MAX_AGE_SECONDS = 5;

export function pagesRoutes(app: FastifyInstance, context: PagesContext, stylesheet: Stylesheet): void {
  const send = (request: FastifyRequest, reply: FastifyReply, page: Page, status = 200): Promise<FastifyReply> =>
    sendPage(request, reply, { site: context.site, page, maxAgeSeconds: MAX_AGE_SECONDS, status });
  const page = (path: string, handler: (request: PagesRequest, reply: FastifyReply) => Promise<Page>): void => {
    app.get(path, async (request: PagesRequest, reply) => send(request, reply, await handler(request, reply)));
  };

  serveStylesheet(app, stylesheet);
  exportRoutes(app, context);
  page('/', () => frontPage(context));
  page('/zoeken', async ({ query }) =>
    searchPage(context, await readOrganisations(context.pool), readSearchAddress(query)),
  );
  page('/:organisatiecode', async ({ params, query }) => {
    const organisation = await findOrganisation(context, params.organisatiecode);
    const maand = readText(query, 'maand');
    if (maand !== undefined && !isMonth(maand)) throw new Problem(platformProblems.notFound);
    return organisationPage(context, organisation, { month: maand, gremium: readText(query, 'gremium') });
  });
  page('/:organisatiecode/informatieobjecten', async ({ params, query }) => {
    const organisation = await findOrganisation(context, params.organisatiecode);
    const number = Number(readText(query, 'pagina') ?? 1);
    if (!Number.isInteger(number) || number < 1 || number > LAST_PAGE) throw new Problem(platformProblems.notFound);
    return documentsPage(context, organisation, readText(query, 'gremium'), number);
  });
  app.get('/:organisatiecode/:collection', async (request: PagesRequest, reply) => {
    const type = typeOf(request.params.collection);
    const organisation = await findOrganisation(context, request.params.organisatiecode);
    if (type === undefined) throw new Problem(platformProblems.notFound);
    return reply.redirect(organisationPath(organisation.organisatiecode), 302);
  });
  app.get('/:organisatiecode/:collection/:bronidentificatie', async (request: PagesRequest, reply) => {
    const { collection, bronidentificatie = '' } = request.params;
    const resourceType = typeOf(collection);
    const code = normaliseOrganisatiecode(request.params.organisatiecode ?? '');
    if (resourceType === undefined || code === undefined) throw new Problem(platformProblems.notFound);
    const resource = { organisatiecode: code, bronidentificatie };
    const data = await readData(context, resourceType, resource);
    if (data === undefined) {
      const history = await readHistory(context.pool, resourceType, resource);
      if (history.length === 0) throw new Problem(platformProblems.notFound);
      const organisations = await readOrganisations(context.pool);
      const known = organisations.find(({ organisatiecode }) => organisatiecode === code);
      return send(request, reply, removedPage(resourceType, resource, known?.naam ?? code, history), 410);
    }
    const organisation = await findOrganisation(context, code);
    if (resourceType === 'Vergadering')
      return send(request, reply, await meetingPage(context, organisation, resource, data));
    if (resourceType === 'Informatieobject')
      return send(request, reply, await documentPage(context, organisation, resource, data));
    // An item is shown on the page of its meeting.
    const item = await findItem(context.pool, code, resourceType, bronidentificatie);
    if (item?.vergadering === undefined || item.vergadering === null) throw new Problem(platformProblems.notFound);
    const meeting = pagePath('Vergadering', { organisatiecode: code, bronidentificatie: item.vergadering });
    return reply.redirect(`${meeting}#${anchorOf(item)}`, 302);
  });
}

function typeOf(collection: string | undefined): ResourceType | undefined {
  return RESOURCE_TYPES.find((type) => COLLECTIONS[type] === collection);
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
