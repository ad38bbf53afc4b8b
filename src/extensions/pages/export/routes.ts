/** The same lists to take along: calendars, Atom, CSV; and the sitemaps. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../lib/problem.ts';
import { platformProblems } from '../../../plugins/problems.ts';
import { readOrganisations } from '../../../raadsfeed/store/state.ts';
import { organisationPath, type PagesContext, pagePath, withQuery } from '../context.ts';
import { answerFrom, findOrganisation, type PagesRequest, readText } from '../request.ts';
import type { Item } from '../search/find.ts';
import { listBodies, listDocuments, listItems, listMeetings, listSitemap, listSitemaps } from '../search/lists.ts';
import { readSearchAddress, resultPath, runSearch, searchPath } from '../search.ts';
import { atom } from './atom.ts';
import { agendaCsv, csv, itemsCsv } from './csv.ts';
import { icalendar } from './icalendar.ts';
import { organisationsSitemap, sitemap, sitemapIndex } from './sitemap.ts';

/** Seconds that these may be kept: programs fetch them again and again. */
const MAX_AGE_SECONDS = 60;
/** Days back that a calendar reaches, and the most it holds. */
const CALENDAR_DAYS = 366;
const CALENDAR_MEETINGS = 2000;
const CSV_ROWS = 5000;
const SEARCH_ROWS = 1000;
const ATOM_ENTRIES = 50;
/** An export takes at most about the memory of so many records of the feed. */
const EXPORT_RECORDS = 500;

interface Export {
  readonly type: 'text/csv' | 'text/calendar' | 'application/atom+xml' | 'application/xml';
  readonly body: string;
  readonly filename?: string;
}

export function exportRoutes(app: FastifyInstance, context: PagesContext): void {
  const { pool, baseUrl, clock } = context;
  const get = (path: string, handler: (request: PagesRequest) => Promise<Export>): void => {
    app.get(path, (request: PagesRequest, reply) =>
      answerFrom(context, request, reply, EXPORT_RECORDS, async () => {
        const { type, body, filename } = await handler(request);
        return {
          body: () => body,
          ...{ filename, contentType: `${type}; charset=utf-8`, maxAgeSeconds: MAX_AGE_SECONDS, keptMs: 0 },
        };
      }),
    );
  };
  const addressOf = (item: Item): string => `${baseUrl()}${pagePath(item.resourceType, item)}`;

  get('/organisaties.csv', async () => {
    const rows = (await readOrganisations(pool)).map(({ organisatiecode, naam, laatstBijgewerkt, herkomstSoort }) => [
      ...[organisatiecode, naam, laatstBijgewerkt?.toISOString(), herkomstSoort],
      `${baseUrl()}${organisationPath(organisatiecode)}`,
    ]);
    return {
      type: 'text/csv',
      filename: 'organisaties.csv',
      body: csv(['code', 'naam', 'bijgewerkt', 'herkomst', 'pagina'], rows),
    };
  });

  get('/zoeken.csv', async ({ query }) => {
    const address = readSearchAddress(query);
    const { result } = await runSearch(context, address, { offset: 0, limit: SEARCH_ROWS, marks: false });
    return {
      type: 'text/csv',
      filename: 'zoekresultaten.csv',
      body: itemsCsv(result.items, (item) => `${baseUrl()}${resultPath(item)}`),
    };
  });

  get('/zoeken.atom', async ({ query }) => {
    const address = readSearchAddress({ ...query, sorteer: 'datum', pagina: '1' });
    const { result } = await runSearch(context, address, { offset: 0, limit: ATOM_ENTRIES, marks: false });
    const names = new Map((await readOrganisations(pool)).map(({ organisatiecode, naam }) => [organisatiecode, naam]));
    const body = atom({
      title: address.q === '' ? 'Raadsinformatie' : `Zoeken naar ${address.q}`,
      self: `${baseUrl()}${searchPath(address, {}, '.atom')}`,
      page: `${baseUrl()}${searchPath(address)}`,
      addressOf: (item) => `${baseUrl()}${resultPath(item)}`,
      authorOf: ({ organisatiecode }) => names.get(organisatiecode) ?? organisatiecode,
      items: result.items,
      now: clock.now(),
    });
    return { type: 'application/atom+xml', body };
  });

  get('/:organisatiecode/agenda.ics', async ({ params, query }) => {
    const { organisatiecode, naam } = await findOrganisation(context, params.organisatiecode);
    const gremium = readText(query, 'gremium');
    const from = new Date(clock.now().getTime() - CALENDAR_DAYS * 86_400_000);
    const meetings = await listMeetings(pool, {
      organisatiecode,
      gremium,
      from,
      order: 'oldest',
      limit: CALENDAR_MEETINGS,
    });
    const body =
      gremium === undefined
        ? undefined
        : (await listBodies(pool, organisatiecode, 1000)).find((one) => one.gremium === gremium)?.naam;
    return {
      type: 'text/calendar',
      filename: `agenda-${organisatiecode}.ics`,
      body: icalendar({
        name: body === undefined ? `Vergaderingen ${naam}` : `${body}, ${naam}`,
        url: `${baseUrl()}${withQuery(organisationPath(organisatiecode), { gremium })}`,
        baseUrl: baseUrl(),
        meetings,
      }),
    };
  });

  get('/:organisatiecode/documenten.atom', async ({ params, query }) => {
    const { organisatiecode, naam } = await findOrganisation(context, params.organisatiecode);
    const gremium = readText(query, 'gremium');
    const items = await listDocuments(pool, { organisatiecode, gremium, limit: ATOM_ENTRIES });
    const path = organisationPath(organisatiecode);
    const body = atom({
      title: `Nieuwe documenten van ${naam}`,
      self: `${baseUrl()}${withQuery(`${path}/documenten.atom`, { gremium })}`,
      page: `${baseUrl()}${withQuery(`${path}/informatieobjecten`, { gremium })}`,
      addressOf,
      authorOf: () => naam,
      items,
      now: clock.now(),
    });
    return { type: 'application/atom+xml', body };
  });

  get('/:organisatiecode/vergaderingen.csv', async ({ params, query }) => {
    const { organisatiecode } = await findOrganisation(context, params.organisatiecode);
    const items = await listMeetings(pool, {
      organisatiecode,
      gremium: readText(query, 'gremium'),
      order: 'newest',
      limit: CSV_ROWS,
    });
    return { type: 'text/csv', filename: `vergaderingen-${organisatiecode}.csv`, body: itemsCsv(items, addressOf) };
  });

  get('/:organisatiecode/informatieobjecten.csv', async ({ params, query }) => {
    const { organisatiecode } = await findOrganisation(context, params.organisatiecode);
    const items = await listDocuments(pool, { organisatiecode, gremium: readText(query, 'gremium'), limit: CSV_ROWS });
    return { type: 'text/csv', filename: `documenten-${organisatiecode}.csv`, body: itemsCsv(items, addressOf) };
  });

  get('/:organisatiecode/gremia.csv', async ({ params }) => {
    const { organisatiecode } = await findOrganisation(context, params.organisatiecode);
    const rows = (await listBodies(pool, organisatiecode, 1000)).map(({ gremium, naam, vergaderingen, laatste }) => [
      ...[gremium, naam, vergaderingen, laatste?.toISOString()],
      `${baseUrl()}${withQuery(organisationPath(organisatiecode), { gremium })}`,
    ]);
    return {
      type: 'text/csv',
      filename: `commissies-${organisatiecode}.csv`,
      body: csv(['identificatie', 'naam', 'vergaderingen', 'laatste', 'pagina'], rows),
    };
  });

  get('/:organisatiecode/vergaderingen/:bronidentificatie/agenda.csv', async ({ params }) => {
    const { organisatiecode } = await findOrganisation(context, params.organisatiecode);
    const items = await listItems(pool, organisatiecode, params.bronidentificatie ?? '', CSV_ROWS);
    if (items.length === 0) throw new Problem(platformProblems.notFound);
    return { type: 'text/csv', filename: 'agenda.csv', body: agendaCsv(items) };
  });

  get('/sitemap.xml', async () => ({
    type: 'application/xml',
    body: sitemapIndex(baseUrl(), await listSitemaps(pool)),
  }));
  get('/sitemap-organisaties.xml', async () => {
    const codes = (await readOrganisations(pool)).map(({ organisatiecode }) => organisatiecode);
    return { type: 'application/xml', body: organisationsSitemap(baseUrl(), codes) };
  });
  get('/sitemap-:page(^\\d{1,9}$).xml', async ({ params }) => {
    const resources = await listSitemap(pool, Number(params.page));
    if (resources.length === 0) throw new Problem(platformProblems.notFound);
    return { type: 'application/xml', body: sitemap(baseUrl(), resources) };
  });
}
