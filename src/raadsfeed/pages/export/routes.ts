/** Lists as calendars, Atom and CSV; and the sitemaps. */
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../../lib/problem.ts';
import { platformProblems } from '../../../plugins/problems.ts';
import type { Answer } from '../../feed/response-cache.ts';
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
import { agendaColumns, type Columns, CSV, type CsvList, createCsvSender, csv, itemColumns } from './csv.ts';
import { icalendar } from './icalendar.ts';
import { ATOM_ENTRIES, atom, sitemap, sitemapIndex } from './xml.ts';

const MAX_AGE_SECONDS = 60;
const CALENDAR_DAYS = 366;
const CALENDAR_MEETINGS = 2000;
const CSV_ROWS = 5000;
/** An export takes at most about the memory of so many records of the feed. */
const EXPORT_RECORDS = 500;

const ATOM = 'application/atom+xml; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

type Export = Omit<Answer, 'maxAgeSeconds'>;

/** `voor`: only what was recorded first before this number. */
const partOf = (query: PagesRequest['query']) => ({
  gremium: bodyKey({ gremiumidentificatie: [query.gremium].flat()[0] }),
  voor: readNumber(query, 'voor', 1, undefined),
});

export function exportRoutes(app: FastifyInstance, context: PagesContext): void {
  const { pool, baseUrl, clock, responses } = context;
  const addressOf = (item: Item): string => `${baseUrl()}${pagePath(item)}`;
  const get = (path: string, handler: (request: PagesRequest) => Promise<Export>, usesIndex = true): void => {
    app.get(path, (request: PagesRequest, reply) =>
      // Without `state`: too large to cache.
      responses.answer(request, reply, {
        records: EXPORT_RECORDS,
        read: async () => {
          if (usesIndex) await context.requireIndex();
          return { ...(await handler(request)), maxAgeSeconds: MAX_AGE_SECONDS };
        },
      }),
    );
  };

  const organisationsCsv = async (): Promise<Export> => {
    const columns: Columns<FeedOrganisation> = [
      ['code', ({ organisatiecode }) => organisatiecode],
      ['naam', ({ naam }) => naam],
      ['bijgewerkt', ({ laatstBijgewerkt }) => laatstBijgewerkt?.toISOString()],
      ['herkomst', ({ herkomstSoort }) => herkomstSoort],
      ['pagina', ({ organisatiecode }) => `${baseUrl()}${organisationPath(organisatiecode)}`],
    ];
    const body = csv(columns, byName(await readOrganisations(pool)));
    return { contentType: CSV, filename: 'organisaties.csv', body };
  };
  get('/organisaties.csv', organisationsCsv, false);

  get('/zoeken.csv', async ({ query }) => {
    const address = readSearchAddress(query);
    const { pagina } = address;
    const part = { offset: (pagina - 1) * CSV_ROWS, limit: CSV_ROWS };
    const { items, total, isMore } = await runSearch(context, address, await readOrganisations(pool), part);
    const next = `${baseUrl()}${searchPath(address, { pagina: pagina + 1 }, '.csv')}`;
    return {
      contentType: CSV,
      filename: 'zoekresultaten.csv',
      body: csv(itemColumns(addressOf), items),
      link: isMore || total > pagina * CSV_ROWS ? `<${next}>; rel="next"` : undefined,
    };
  });

  get('/zoeken.atom', async ({ query }) => {
    const address = readSearchAddress({ ...query, sorteer: undefined, pagina: '1' });
    const { voor } = partOf(query);
    const organisations = await readOrganisations(pool);
    const part = { offset: 0, limit: ATOM_ENTRIES + 1 };
    const { items, total, isMore } = await runSearch(context, address, organisations, part, { voor });
    const names = new Map(organisations.map(({ organisatiecode, naam }) => [organisatiecode, naam]));
    const body = atom({
      title: address.q === undefined ? 'Raadsinformatie' : `Zoeken naar ${address.q}`,
      at: (before) => `${baseUrl()}${searchPath(address, {}, '.atom', before)}`,
      page: `${baseUrl()}${searchPath(address)}`,
      authorOf: ({ organisatiecode }) => names.get(organisatiecode) ?? organisatiecode,
      // Items that the index still has and the feed has not are not shown: the total tells whether the list continues.
      addressOf,
      items,
      hasMore: isMore || total > ATOM_ENTRIES,
      before: voor,
      now: clock.now(),
    });
    return { contentType: ATOM, body };
  });

  get('/:organisatiecode/documenten.atom', async ({ params, query }) => {
    const { organisatiecode, naam } = await findOrganisation(context, params.organisatiecode);
    const { gremium, voor } = partOf(query);
    const items = await listItems(pool, {
      organisatiecode,
      gremium,
      resourceType: 'Informatieobject',
      before: voor,
      order: 'stored',
      limit: ATOM_ENTRIES + 1,
    });
    const path = `${organisationPath(organisatiecode)}/documenten.atom`;
    const body = atom({
      title: `Nieuwe documenten van ${naam}`,
      at: (before) => `${baseUrl()}${withQuery(path, { gremium, voor: before })}`,
      page: `${baseUrl()}${searchPath({ organisatie: organisatiecode, gremium, soort: 'informatieobjecten' })}`,
      authorOf: () => naam,
      addressOf,
      items,
      hasMore: items.length > ATOM_ENTRIES,
      before: voor,
      now: clock.now(),
    });
    return { contentType: ATOM, body };
  });

  get('/:organisatiecode/agenda.ics', async ({ params, query }) => {
    const { organisatiecode, naam } = await findOrganisation(context, params.organisatiecode);
    const { gremium } = partOf(query);
    const from = new Date(clock.now().getTime() - CALENDAR_DAYS * 86_400_000);
    const newest = await listItems(pool, {
      organisatiecode,
      gremium,
      resourceType: 'Vergadering',
      from,
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
    return { contentType: 'text/calendar; charset=utf-8', filename: `agenda-${organisatiecode}.ics`, body };
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
      const filter = { organisatiecode, gremium: partOf(query).gremium, resourceType };
      return {
        name: `${name}-${organisatiecode}`,
        columns: itemColumns(addressOf),
        read: (limit, last) => listItems(pool, { ...filter, before: last?.firstNumber, order: 'stored', limit }),
      };
    });
  }

  getCsv<Body>('gremia.csv', async (organisatiecode) => {
    const now = clock.now();
    const path = organisationPath(organisatiecode);
    return {
      name: `commissies-${organisatiecode}`,
      columns: [
        ['identificatie', ({ gremium }) => gremium],
        ['naam', ({ naam }) => naam],
        ['vergaderingen', ({ vergaderingen }) => vergaderingen],
        ['laatste', ({ laatste }) => laatste?.toISOString()],
        ['volgende', ({ volgende }) => volgende?.toISOString()],
        ['pagina', ({ gremium }) => `${baseUrl()}${withQuery(path, { gremium })}`],
      ],
      read: (limit, _last, offset) => listBodies(pool, { organisatiecode, now }, { limit, offset }),
      // Whether a meeting is past or coming depends on the time.
      also: now.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length),
    };
  });

  getCsv<Item>('vergaderingen/:bronidentificatie/agenda.csv', async (organisatiecode, { params }) => {
    const { bronidentificatie = '' } = params;
    const meeting = { organisatiecode, resourceType: 'Vergadering', bronidentificatie } as const;
    const { isPlanned } = await readAgenda(pool, meeting);
    const items = { organisatiecode, vergadering: bronidentificatie, resourceType: 'Agendapunt' } as const;
    return {
      name: 'agenda',
      columns: agendaColumns(isPlanned),
      read: (limit, _last, offset) => listItems(pool, { ...items, order: 'oldest', limit, offset }),
      isNeeded: true,
    };
  });

  get('/sitemap.xml', async () => ({
    contentType: XML,
    body: sitemapIndex(baseUrl(), await listSitemaps(pool)),
  }));
  get('/sitemap-:page(^\\d{1,9}$).xml', async ({ params }) => {
    const resources = await listSitemap(pool, Number(params.page));
    if (resources.length === 0) throw new Problem(platformProblems.notFound);
    return { contentType: XML, body: sitemap(baseUrl(), resources) };
  });
}
