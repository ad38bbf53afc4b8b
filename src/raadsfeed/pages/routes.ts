/** The addresses of the council information for people, below `/raad`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Stylesheet, serveStylesheet } from '../../html/mount.ts';
import { type Page, renderPage } from '../../html/page.ts';
import { normaliseOrganisatiecode } from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import {
  findOrganisation,
  organisationPath,
  type PagesContext,
  type PagesRequest,
  readNumber,
  readText,
  typeOf,
} from './context.ts';
import { exportRoutes } from './export/routes.ts';
import { frontPage, organisationsPage } from './front.ts';
import { bodiesPage, organisationPage } from './organisation.ts';
import { type Made, resourcePage } from './resource.ts';
import { bodyKey } from './search/entry.ts';
import { readSearchAddress, searchPage, searchPath } from './search.ts';

/** Seconds that caches may keep a page: a redaction reaches them within this time. */
const MAX_AGE_SECONDS = 5;
/** The index is slightly behind the feed, and pages depend on the time of day. */
const KEPT_MS = 1000;
const MONTH = /^(19|20|21)\d\d-(0[1-9]|1[0-2])$/;
/** Memory of a page, in records of the feed. */
const PAGE_RECORDS = 50;

export function pagesRoutes(app: FastifyInstance, context: PagesContext, stylesheet: Stylesheet): void {
  const { site, responses, stateCache } = context;
  const send = (request: FastifyRequest, reply: FastifyReply, make: () => Promise<Made>): Promise<FastifyReply> =>
    responses.answer(request, reply, {
      records: PAGE_RECORDS,
      read: async () => {
        // First, so that a redaction in between is not missed.
        const state = await stateCache.current();
        const { page, status } = await make();
        return {
          body: renderPage(site, page),
          ...{
            status,
            state,
            maxAgeSeconds: MAX_AGE_SECONDS,
            keptMs: KEPT_MS,
            contentType: 'text/html; charset=utf-8',
          },
          link: page.json === undefined ? undefined : `<${page.json}>; rel="alternate"; type="application/json"`,
        };
      },
    });
  const page = (path: string, handler: (request: PagesRequest) => Promise<Page>): void => {
    app.get(path, (request: PagesRequest, reply) =>
      send(request, reply, async () => {
        await context.requireIndex();
        return { page: await handler(request) };
      }),
    );
  };

  responses.answerFromMemory(app);
  serveStylesheet(app, () => stylesheet);
  exportRoutes(app, context);
  const fromOf = ({ query }: PagesRequest): number => readNumber(query, 'vanaf', 0, 0);
  page('/', () => frontPage(context));
  page('/organisaties', (request) => organisationsPage(context, fromOf(request)));
  page('/zoeken', async ({ query }) => searchPage(context, readSearchAddress(query)));
  page('/:organisatiecode', async (request) => {
    const { params, query } = request;
    const organisation = await findOrganisation(context, params.organisatiecode);
    const maand = readText(query, 'maand');
    if (maand !== undefined && !MONTH.test(maand)) throw new Problem(platformProblems.notFound);
    const gremium = bodyKey({ gremiumidentificatie: [query.gremium].flat()[0] });
    return organisationPage(context, organisation, {
      ...{ wanted: maand, gremium },
      from: readNumber(query, 'vanaf', 0, undefined),
    });
  });
  page('/:organisatiecode/gremia', async (request) =>
    bodiesPage(context, await findOrganisation(context, request.params.organisatiecode), fromOf(request)),
  );
  app.get('/:organisatiecode/:collection', async (request: PagesRequest, reply) => {
    const type = typeOf(request.params.collection);
    const organisation = await findOrganisation(context, request.params.organisatiecode);
    if (type === undefined) throw new Problem(platformProblems.notFound);
    const { organisatiecode: organisatie } = organisation;
    const documents = searchPath({ organisatie, soort: 'informatieobjecten' });
    return reply.redirect(type === 'Informatieobject' ? documents : organisationPath(organisatie), 302);
  });
  const resource = async (request: PagesRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { organisatiecode, collection, bronidentificatie = '', below } = request.params;
    const resourceType = typeOf(collection);
    const code = normaliseOrganisatiecode(organisatiecode ?? '');
    if (resourceType === undefined || code === undefined) throw new Problem(platformProblems.notFound);
    const { query } = request;
    return send(request, reply, () =>
      resourcePage(context, {
        ...{ resourceType, resource: { organisatiecode: code, bronidentificatie }, below, from: fromOf(request) },
        part: readNumber(query, 'deel', 1, 1),
        before: readNumber(query, 'voor', 1, undefined),
      }),
    );
  };
  app.get('/:organisatiecode/:collection/:bronidentificatie', resource);
  app.get('/:organisatiecode/:collection/:bronidentificatie/:below', resource);
}
