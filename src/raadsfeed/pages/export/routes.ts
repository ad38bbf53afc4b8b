/** Lists as calendars, Atom and CSV; and the sitemaps. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../lib/problem.ts';
import { platformProblems } from '../../../plugins/problems.ts';
import { type FeedOrganisation, readOrganisations } from '../../store/state.ts';
import { readAgenda } from '../agenda.ts';
import {
  byName,
  findOrganisation,
  organisationPath,
  type PagesContext,
  type PagesRequest,
  pagePath,
  readNumber,
  withQuery,
} from '../context.ts';
import { bodyKey } from '../search/entry.ts';
import { type Body, type Item, listBodies, listItems, listSitemap, listSitemaps } from '../search/lists.ts';
import { readSearchAddress, runSearch, searchPath } from '../search.ts';
import { ATOM_ENTRIES, atom } from './atom.ts';
import { agendaTable, csv, itemsCsv, itemTable } from './csv.ts';
import { icalendar } from './icalendar.ts';
import { sitemap, sitemapIndex } from './sitemap.ts';
import { type CsvList, createCsvSender } from './stream-csv.ts';

/** Cache time in seconds: programs fetch these again and again. */
const MAX_AGE_SECONDS = 60;
/** How many days back a calendar reaches, and its maximum number of meetings. */
const CALENDAR_DAYS = 366;
const CALENDAR_MEETINGS = 2000;
/** Rows in one part of the results of a search. */
const CSV_ROWS = 5000;
/** An export takes at most about the memory of so many records of the feed. */
const EXPORT_RECORDS = 500;

interface ExportPart {
  readonly gremium: string | undefined;
  /** Only what was recorded first before this number. */
  readonly voor: number | undefined;
}

interface Export {
  readonly type: 'text/csv' | 'text/calendar' | 'application/atom+xml' | 'application/xml';
  readonly body: string;
  readonly filename?: string;
  readonly link?: string | undefined;
}

const partOf = (query: PagesRequest['query']): ExportPart => ({
  gremium: bodyKey({ gremiumidentificatie: [query.gremium].flat()[0] }),
  voor: readNumber(query, 'voor', 1, undefined),
});

export function exportRoutes(app: FastifyInstance, context: PagesContext): void {
  const { pool, baseUrl, clock, responses } = context;
  const get = (path: string, handler: (request: PagesRequest) => Promise<Export>, usesIndex = true): void => {
    app.get(path, (request: PagesRequest, reply) =>
      // Without `state`: too large to cache.
      responses.answer(request, reply, {
        records: EXPORT_RECORDS,
        read: async () => {
          if (usesIndex) await context.requireIndex();
          const { type, body, filename, link } = await handler(request);
          return { body, filename, link, contentType: `${type}; charset=utf-8`, maxAgeSeconds: MAX_AGE_SECONDS };
        },
      }),
    );
  };
  const getOf = (path: string, handler: (organisation: FeedOrganisation, part: ExportPart) => Promise<Export>): void =>
    get(`/:organisatiecode/${path}`, async ({ params, query }) =>
      handler(await findOrganisation(context, params.organisatiecode), partOf(query)),
    );
  const asCsv = (name: string, body: string): Export => ({ type: 'text/csv', filename: `${name}.csv`, body });
  const addressOf = (item: Item): string => `${baseUrl()}${pagePath(item)}`;

  const organisationsCsv = async (): Promise<Export> => {
    const rows = byName(await readOrganisations(pool)).map(
      ({ organisatiecode, naam, laatstBijgewerkt, herkomstSoort }) => [
        ...[organisatiecode, naam, laatstBijgewerkt?.toISOString(), herkomstSoort],
        `${baseUrl()}${organisationPath(organisatiecode)}`,
      ],
    );
    return asCsv('organisaties', csv(['code', 'naam', 'bijgewerkt', 'herkomst', 'pagina'], rows));
  };
  get('/organisaties.csv', organisationsCsv, false);

  get('/zoeken.csv', async ({ query }) => {
    const address = readSearchAddress(query);
    const { pagina } = address;
    const part = { offset: (pagina - 1) * CSV_ROWS, limit: CSV_ROWS };
    const { items, total, isMore } = await runSearch(context, address, await readOrganisations(pool), part);
    const next = `${baseUrl()}${searchPath(address, { pagina: pagina + 1 }, '.csv')}`;
    return {
      ...asCsv('zoekresultaten', itemsCsv(items, addressOf)),
      link: isMore || total > pagina * CSV_ROWS ? `<${next}>; rel="next"` : undefined,
    };
  });

  get('/zoeken.atom', async ({ query }) => {
    const address = readSearchAddress({ ...query, sorteer: undefined, pagina: '1' });
    const { voor } = partOf(query);
    const organisations = await readOrganisations(pool);
    const part = { offset: 0, limit: ATOM_ENTRIES + 1, follow: { voor } };
    const { items, total, isMore } = await runSearch(context, address, organisations, part);
    const names = new Map(organisations.map(({ organisatiecode, naam }) => [organisatiecode, naam]));
    const body = atom({
      title: address.q === undefined ? 'Raadsinformatie' : `Zoeken naar ${address.q}`,
      at: (before) => `${baseUrl()}${searchPath(address, {}, '.atom', before)}`,
      page: `${baseUrl()}${searchPath(address)}`,
      authorOf: ({ organisatiecode }) => names.get(organisatiecode) ?? organisatiecode,
      // Items that the index still has and the feed has not are not shown: the total tells whether the list continues.
      ...{ addressOf, items, hasMore: isMore || total > ATOM_ENTRIES, before: voor, now: clock.now() },
    });
    return { type: 'application/atom+xml', body };
  });

  getOf('documenten.atom', async ({ organisatiecode, naam }, { gremium, voor }) => {
    const items = await listItems(pool, {
      ...{ organisatiecode, gremium, resourceType: 'Informatieobject', before: voor, order: 'stored' },
      limit: ATOM_ENTRIES + 1,
    });
    const body = atom({
      title: `Nieuwe documenten van ${naam}`,
      at: (before) =>
        `${baseUrl()}${withQuery(`${organisationPath(organisatiecode)}/documenten.atom`, { gremium, voor: before })}`,
      page: `${baseUrl()}${searchPath({ organisatie: organisatiecode, gremium, soort: 'informatieobjecten' })}`,
      authorOf: () => naam,
      ...{ addressOf, items, hasMore: items.length > ATOM_ENTRIES, before: voor, now: clock.now() },
    });
    return { type: 'application/atom+xml', body };
  });

  getOf('agenda.ics', async ({ organisatiecode, naam }, { gremium }) => {
    const from = new Date(clock.now().getTime() - CALENDAR_DAYS * 86_400_000);
    const newest = await listItems(pool, {
      ...{ organisatiecode, gremium, resourceType: 'Vergadering', from },
      limit: CALENDAR_MEETINGS,
    });
    const meetings = newest.toReversed();
    const bodyName = gremium === undefined ? undefined : meetings[0]?.gremiumnaam;
    const body = icalendar({
      name: bodyName == null ? `Vergaderingen ${naam}` : `${bodyName}, ${naam}`,
      url: `${baseUrl()}${withQuery(organisationPath(organisatiecode), { gremium })}`,
      baseUrl: baseUrl(),
      meetings,
    });
    return { type: 'text/calendar', filename: `agenda-${organisatiecode}.ics`, body };
  });

  const sendCsv = createCsvSender(context, MAX_AGE_SECONDS);
  const getCsv = <T>(
    path: string,
    list: (organisatiecode: string, request: PagesRequest) => Promise<CsvList<T>>,
  ): void => {
    app.get(`/:organisatiecode/${path}`, async (request: PagesRequest, reply) => {
      await context.requireIndex();
      const { organisatiecode } = await findOrganisation(context, request.params.organisatiecode);
      return sendCsv(request, reply, await list(organisatiecode, request));
    });
  };

  for (const [path, resourceType, name] of [
    ['vergaderingen.csv', 'Vergadering', 'vergaderingen'],
    ['informatieobjecten.csv', 'Informatieobject', 'documenten'],
  ] as const) {
    getCsv<Item>(path, async (organisatiecode, { query }) => {
      const { gremium } = partOf(query);
      return {
        name: `${name}-${organisatiecode}`,
        table: itemTable(addressOf),
        read: (limit, last) =>
          listItems(pool, {
            organisatiecode,
            gremium,
            resourceType,
            before: last?.firstNumber,
            order: 'stored',
            limit,
          }),
      };
    });
  }

  getCsv<Body>('gremia.csv', async (organisatiecode) => {
    const now = clock.now();
    return {
      name: `commissies-${organisatiecode}`,
      table: {
        header: ['identificatie', 'naam', 'vergaderingen', 'laatste', 'volgende', 'pagina'],
        row: ({ gremium, naam, vergaderingen, laatste, volgende }) => [
          ...[gremium, naam, vergaderingen, laatste?.toISOString(), volgende?.toISOString()],
          `${baseUrl()}${withQuery(organisationPath(organisatiecode), { gremium })}`,
        ],
      },
      read: (limit, _last, offset) => listBodies(pool, { organisatiecode, now }, { limit, offset }),
      // Whether a meeting is past or coming depends on the time.
      also: now.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length),
    };
  });

  getCsv<Item>('vergaderingen/:bronidentificatie/agenda.csv', async (organisatiecode, { params }) => {
    const { bronidentificatie: vergadering = '' } = params;
    const items = { organisatiecode, vergadering, resourceType: 'Agendapunt' } as const;
    const { isPlanned } = await readAgenda(pool, {
      ...{ organisatiecode, resourceType: 'Vergadering', bronidentificatie: vergadering },
    });
    return {
      name: 'agenda',
      table: agendaTable(isPlanned),
      read: (limit, _last, offset) => listItems(pool, { ...items, order: 'oldest', limit, offset }),
      isNeeded: true,
    };
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
