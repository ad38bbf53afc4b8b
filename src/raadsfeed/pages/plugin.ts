/** The council information for people: its mount, and the addresses below `/raad`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { mountPages } from '../../html/mount.ts';
import { link, type Page, renderPage, type Site } from '../../html/page.ts';
import { normaliseOrganisatiecode } from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import { html } from '../../lib/template.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { serveIndex } from '../follow-index.ts';
import {
  BEGIN,
  createContext,
  findOrganisation,
  HOME,
  organisationPath,
  type PagesContext,
  type PagesRequest,
  readNumber,
  readText,
  typeOf,
} from './context.ts';
import { exportRoutes } from './export/routes.ts';
import { frontPage, ORGANISATIONS, organisationsPage } from './front.ts';
import { bodiesPage, organisationPage } from './organisation.ts';
import { resourcePage } from './resource.ts';
import { bodyKey } from './search/entry.ts';
import { PAGES_INDEX } from './search/follow-feed.ts';
import { readSearchAddress, searchPage, searchPath } from './search.ts';

/** Seconds that caches may keep a page: a redaction reaches them within this time. */
const MAX_AGE_SECONDS = 5;
/** The index is slightly behind the feed, and pages depend on the time of day. */
const KEPT_MS = 1000;
const MONTH = /^(19|20|21)\d\d-(0[1-9]|1[0-2])$/;
/** Memory of a page, in records of the feed. */
const PAGE_RECORDS = 50;

export const pages = fp(
  async (app: FastifyInstance) => {
    const { prefix: api, rateLimit } = app.settings.raadsfeed;
    const context = createContext(app, serveIndex(app, 'search index', PAGES_INDEX));
    app.siteMaps.push(async () => [`${context.baseUrl()}${HOME}/sitemap.xml`]);
    await mountPages(app, {
      site: {
        name: 'Raadsinformatie',
        home: HOME,
        menu: [
          BEGIN,
          { href: `${HOME}/zoeken?soort=vergaderingen`, text: 'Alle vergaderingen' },
          { href: `${HOME}/zoeken`, text: 'Zoeken' },
          { href: ORGANISATIONS, text: 'Organisaties' },
        ],
        footer: html`<nav aria-label="Voor programma’s"><ul class="kv-menu"><li>${link(`${api}/`, 'Dezelfde gegevens voor programma’s')}</li><li>${link(`${api}/docs`, 'Beschrijving voor programmeurs')}</li><li>${link(`${ORGANISATIONS}.csv`, 'Organisaties als CSV')}</li></ul></nav>
<p>Deze informatie is openbaar. Bij elke organisatie leest u waar de gegevens vandaan komen en hoe actueel ze zijn.</p>`,
      },
      about: 'vergaderingen, agenda’s en documenten van de raad',
      rateLimit,
      routes: (scope, site) => {
        context.responses.answerFromMemory(scope);
        pagesRoutes(scope, context, site);
        exportRoutes(scope, context);
      },
    });
  },
  { name: 'pages', dependencies: ['raadsfeed'] },
);

function pagesRoutes(app: FastifyInstance, context: PagesContext, site: Site): void {
  const { responses, stateCache } = context;
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    make: () => Promise<{ readonly page: Page; readonly status?: number }>,
  ): Promise<FastifyReply> =>
    responses.answer(request, reply, {
      records: PAGE_RECORDS,
      read: async () => {
        // First, so that a redaction in between is not missed.
        const state = await stateCache.current();
        const { page, status } = await make();
        return {
          status,
          state,
          maxAgeSeconds: MAX_AGE_SECONDS,
          keptMs: KEPT_MS,
          body: renderPage(site, page),
          contentType: 'text/html; charset=utf-8',
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
  const fromOf = ({ query }: PagesRequest): number => readNumber(query, 'vanaf', 0, 0);

  page('/', () => frontPage(context));
  page('/organisaties', (request) => organisationsPage(context, fromOf(request)));
  page('/zoeken', async ({ query }) => searchPage(context, readSearchAddress(query)));
  page('/:organisatiecode', async ({ params, query }) => {
    const organisation = await findOrganisation(context, params.organisatiecode);
    const wanted = readText(query, 'maand');
    if (wanted !== undefined && !MONTH.test(wanted)) throw new Problem(platformProblems.notFound);
    const gremium = bodyKey({ gremiumidentificatie: [query.gremium].flat()[0] });
    const from = readNumber(query, 'vanaf', 0, undefined);
    return organisationPage(context, organisation, { wanted, gremium, from });
  });
  page('/:organisatiecode/gremia', async (request) =>
    bodiesPage(context, await findOrganisation(context, request.params.organisatiecode), fromOf(request)),
  );
  app.get('/:organisatiecode/:collection', async ({ params }: PagesRequest, reply) => {
    const type = typeOf(params.collection);
    const { organisatiecode: organisatie } = await findOrganisation(context, params.organisatiecode);
    if (type === undefined) throw new Problem(platformProblems.notFound);
    const documents = searchPath({ organisatie, soort: 'informatieobjecten' });
    return reply.redirect(type === 'Informatieobject' ? documents : organisationPath(organisatie), 302);
  });
  const resource = async (request: PagesRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { params, query } = request;
    const { bronidentificatie = '', below } = params;
    const resourceType = typeOf(params.collection);
    const organisatiecode = normaliseOrganisatiecode(params.organisatiecode ?? '');
    if (resourceType === undefined || organisatiecode === undefined) throw new Problem(platformProblems.notFound);
    return send(request, reply, () =>
      resourcePage(context, { organisatiecode, resourceType, bronidentificatie }, below, {
        from: fromOf(request),
        part: readNumber(query, 'deel', 1, 1),
        before: readNumber(query, 'voor', 1, undefined),
      }),
    );
  };
  app.get('/:organisatiecode/:collection/:bronidentificatie', resource);
  app.get('/:organisatiecode/:collection/:bronidentificatie/:below', resource);
}
