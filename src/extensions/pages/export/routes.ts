/** The same lists to take along: calendars, Atom, CSV; and the sitemaps. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../lib/problem.ts';
import { platformProblems } from '../../../plugins/problems.ts';
import { type FeedOrganisation, readOrganisations } from '../../../raadsfeed/store/state.ts';
import {
  findOrganisation,
  organisationPath,
  type PagesContext,
  type PagesRequest,
  readText,
  withQuery,
} from '../context.ts';
import { type Item, listBodies, listItems, listSitemap, listSitemaps } from '../search/lists.ts';
import { readSearchAddress, resultPath, runSearch, searchPath } from '../search.ts';
import { atom } from './atom.ts';
import { agendaCsv, csv, itemsCsv } from './csv.ts';
import { icalendar } from './icalendar.ts';
import { sitemap, sitemapIndex } from './sitemap.ts';

/** Seconds that these may be kept: programs fetch them again and again. */
const MAX_AGE_SECONDS = 60;
/** Days back that a calendar reaches, and the most it holds. */
const CALENDAR_DAYS = 366;
const CALENDAR_MEETINGS = 2000;
const CSV_ROWS = 5000;
const SEARCH_ROWS = 1000;
const BODIES = 1000;
const ATOM_ENTRIES = 50;
/** An export takes at most about the memory of so many records of the feed. */
const EXPORT_RECORDS = 500;

interface Export {
  readonly type: 'text/csv' | 'text/calendar' | 'application/atom+xml' | 'application/xml';
  readonly body: string;
  readonly filename?: string;
}

export function exportRoutes(app: FastifyInstance, context: PagesContext): void {
  const { pool, baseUrl, clock, responses } = context;
  const get = (path: string, handler: (request: PagesRequest) => Promise<Export>): void => {
    app.get(path, (request: PagesRequest, reply) =>
      // Without a head: what is this large is not kept.
      responses.answer(request, reply, EXPORT_RECORDS, async () => {
        const { type, body, filename } = await handler(request);
        return { body, filename, contentType: `${type}; charset=utf-8`, maxAgeSeconds: MAX_AGE_SECONDS };
      }),
    );
  };
  /** An export of one organisation, or of one of its bodies. */
  const getOf = (
    path: string,
    handler: (organisation: FeedOrganisation, gremium: string | undefined) => Promise<Export>,
  ): void =>
    get(`/:organisatiecode/${path}`, async ({ params, query }) =>
      handler(await findOrganisation(context, params.organisatiecode), readText(query, 'gremium')),
    );
  const asCsv = (name: string, body: string): Export => ({ type: 'text/csv', filename: `${name}.csv`, body });
  const addressOf = (item: Item): string => `${baseUrl()}${resultPath(item)}`;

  get('/organisaties.csv', async () => {
    const rows = (await readOrganisations(pool)).map(({ organisatiecode, naam, laatstBijgewerkt, herkomstSoort }) => [
      ...[organisatiecode, naam, laatstBijgewerkt?.toISOString(), herkomstSoort],
      `${baseUrl()}${organisationPath(organisatiecode)}`,
    ]);
    return asCsv('organisaties', csv(['code', 'naam', 'bijgewerkt', 'herkomst', 'pagina'], rows));
  });

  get('/zoeken.csv', async ({ query }) => {
    const { items } = await runSearch(context, readSearchAddress(query), { offset: 0, limit: SEARCH_ROWS });
    return asCsv('zoekresultaten', itemsCsv(items, addressOf));
  });

  get('/zoeken.atom', async ({ query }) => {
    const address = readSearchAddress({ ...query, sorteer: 'datum', pagina: '1' });
    const { items } = await runSearch(context, address, { offset: 0, limit: ATOM_ENTRIES });
    const names = new Map((await readOrganisations(pool)).map(({ organisatiecode, naam }) => [organisatiecode, naam]));
    const body = atom({
      title: address.q === undefined ? 'Raadsinformatie' : `Zoeken naar ${address.q}`,
      self: `${baseUrl()}${searchPath(address, {}, '.atom')}`,
      page: `${baseUrl()}${searchPath(address)}`,
      authorOf: ({ organisatiecode }) => names.get(organisatiecode) ?? organisatiecode,
      ...{ addressOf, items, now: clock.now() },
    });
    return { type: 'application/atom+xml', body };
  });

  getOf('documenten.atom', async ({ organisatiecode, naam }, gremium) => {
    const body = atom({
      title: `Nieuwe documenten van ${naam}`,
      self: `${baseUrl()}${withQuery(`${organisationPath(organisatiecode)}/documenten.atom`, { gremium })}`,
      page: `${baseUrl()}${searchPath({ organisatie: organisatiecode, gremium, soort: 'informatieobjecten' })}`,
      authorOf: () => naam,
      items: await listItems(pool, {
        ...{ organisatiecode, gremium, resourceType: 'Informatieobject' },
        limit: ATOM_ENTRIES,
      }),
      ...{ addressOf, now: clock.now() },
    });
    return { type: 'application/atom+xml', body };
  });

  getOf('agenda.ics', async ({ organisatiecode, naam }, gremium) => {
    const from = new Date(clock.now().getTime() - CALENDAR_DAYS * 86_400_000);
    const meetings = await listItems(pool, {
      ...{ organisatiecode, gremium, resourceType: 'Vergadering', from },
      order: 'oldest',
      limit: CALENDAR_MEETINGS,
    });
    const bodyName = gremium === undefined ? undefined : meetings[0]?.gremiumnaam;
    const body = icalendar({
      name: bodyName == null ? `Vergaderingen ${naam}` : `${bodyName}, ${naam}`,
      url: `${baseUrl()}${withQuery(organisationPath(organisatiecode), { gremium })}`,
      baseUrl: baseUrl(),
      meetings,
    });
    return { type: 'text/calendar', filename: `agenda-${organisatiecode}.ics`, body };
  });

  for (const [path, resourceType, name] of [
    ['vergaderingen.csv', 'Vergadering', 'vergaderingen'],
    ['informatieobjecten.csv', 'Informatieobject', 'documenten'],
  ] as const) {
    getOf(path, async ({ organisatiecode }, gremium) => {
      const items = await listItems(pool, { organisatiecode, gremium, resourceType, limit: CSV_ROWS });
      return asCsv(`${name}-${organisatiecode}`, itemsCsv(items, addressOf));
    });
  }

  getOf('gremia.csv', async ({ organisatiecode }) => {
    const bodies = await listBodies(pool, organisatiecode, BODIES);
    const rows = bodies.map(({ gremium, naam, vergaderingen, laatste }) => [
      ...[gremium, naam, vergaderingen, laatste?.toISOString()],
      `${baseUrl()}${withQuery(organisationPath(organisatiecode), { gremium })}`,
    ]);
    const header = ['identificatie', 'naam', 'vergaderingen', 'laatste', 'pagina'];
    return asCsv(`commissies-${organisatiecode}`, csv(header, rows));
  });

  get('/:organisatiecode/vergaderingen/:bronidentificatie/agenda.csv', async ({ params }) => {
    const { organisatiecode } = await findOrganisation(context, params.organisatiecode);
    const { bronidentificatie: vergadering = '' } = params;
    const items = await listItems(pool, {
      ...{ organisatiecode, resourceType: 'Agendapunt', vergadering },
      order: 'oldest',
      limit: CSV_ROWS,
    });
    if (items.length === 0) throw new Problem(platformProblems.notFound);
    return asCsv('agenda', agendaCsv(items));
  });

  get('/sitemap.xml', async () => ({
    type: 'application/xml',
    body: sitemapIndex(baseUrl(), await listSitemaps(pool)),
  }));
  get('/sitemap-:page(^\\d{1,9}$).xml', async ({ params }) => {
    const resources = await listSitemap(pool, Number(params.page));
    if (resources.length === 0) throw new Problem(platformProblems.notFound);
    return { type: 'application/xml', body: sitemap(baseUrl(), resources) };
  });
}
