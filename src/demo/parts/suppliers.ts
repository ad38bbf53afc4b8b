/** Two imitation suppliers beside the demo's authorization server, read into the feed as an aggregator reads them. */
import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../lib/time.ts';
import { syncSource } from '../../raadsfeed/aggregator/read-now.ts';
import { findSource, saveSources } from '../../raadsfeed/aggregator/store/sources.ts';
import type { Overrides } from '../../settings/config.ts';
import type { DemoSetup, TourNeeds } from '../demo-part.ts';
import { asIfThisWeek, firstStart } from '../example-days.ts';

const NOTUBIZ = '/notubiz';
const IBABS = '/ibabs/Public.svc';
/** The time of both meetings and of their last change, in the form of the demo's example data. */
const WRITTEN = JSON.stringify({ day: '2026-03-10', changed: '2026-02-24' });
const SECRET = 'Aankoop van grond';

export const supplierVariables = async ({ authorizationUrl }: DemoSetup): Promise<Record<string, string>> => ({
  RAADSFEED_ROL: 'aggregator',
  AGGREGATOR_ALLOW_PRIVATE: 'true',
  IBABS_URL: authorizationUrl() + IBABS,
  // No real supplier needs to be spared here.
  IBABS_CALLS_PER_MINUTE: '60000',
});

export const supplierOverrides = ({ authorizationUrl }: DemoSetup): Overrides => ({
  aggregator: { notubizUrl: authorizationUrl() + NOTUBIZ },
});

const SOURCES = [
  {
    adres: 'notubiz:9911',
    organisatiecode: 'gm9911',
    naam: 'Gemeente Voorbeelddorp',
    supplier: 'NotuBiz',
    resources: 3,
  },
  {
    adres: 'ibabs:voorbeeldveld',
    organisatiecode: 'gm9912',
    naam: 'Gemeente Voorbeeldveld',
    supplier: 'iBabs',
    resources: 4,
  },
] as const;

export async function tourSuppliers(needs: TourNeeds): Promise<void> {
  const { config, pool, proof, signal, transcript, demo, client } = needs;
  const { baseUrl, mounts } = demo.file;
  if (config.raadsfeed.rol !== 'aggregator' || !config.server.areas.includes('raadsfeed')) return;
  const reading = {
    config,
    database: { pool },
    proof,
    clock: systemClock,
    log: demo.log,
    publicBaseUrl: () => baseUrl,
  };
  transcript.section('Suppliers: two organisations that have no feed of their own', 'suppliers');
  await transcript.part('the suppliers are read', async () => {
    for (const { adres, organisatiecode, naam, supplier, resources } of SOURCES) {
      const source = {
        soort: 'leveranciers-api',
        organisatiecodes: [organisatiecode],
        naam,
        vanaf: '2026-01-01',
      } as const;
      await saveSources(pool, [{ adres, ...source }]);
      const id = (await findSource(pool, adres))?.id ?? 0;
      transcript.line(
        `koppelvlak bron add ${adres} --organisatie ${organisatiecode} --naam "${naam}" --from ${source.vanaf}`,
      );
      const { complete } = await syncSource(reading, id, { allowMassDelete: false, signal, progress: () => undefined });
      const snapshot = await client.call(
        'GET',
        `${mounts.raadsfeed}/snapshot?organisatiecode=${organisatiecode}&limit=1000`,
      );
      const records = Array.isArray(snapshot.body.records) ? snapshot.body.records.length : 0;
      transcript.line(
        `koppelvlak bron sync ${adres} -> ${complete ? 'complete' : 'not complete'}, ${records} resources`,
      );
      transcript.check(`everything ${supplier} publishes is in the feed`, complete && records === resources);
      const page = (await client.call('GET', `${baseUrl}/raad/${organisatiecode}`)).bytes.toString();
      const isTold = page.includes(`${supplier} vanaf 1 januari 2026`);
      if (config.pages.isOn) transcript.check(`the pages name ${supplier} as the source, and the first day`, isTold);
      const found = snapshot.bytes.toString() + page;
      transcript.check(`nothing confidential from ${supplier} is in either`, !found.includes(SECRET));
    }
  });
}

export async function serveSuppliers(app: FastifyInstance, { home }: DemoSetup): Promise<void> {
  const days: Days = JSON.parse(asIfThisWeek(WRITTEN, await firstStart(home)));
  await app.register((scope) => serveNotubiz(scope, days), { prefix: NOTUBIZ });
  await app.register((scope) => serveIbabs(scope, days), { prefix: IBABS });
}

interface Days {
  readonly day: string;
  readonly changed: string;
}

const MARKS = { confidential: 0, permission_group: 'public' };
const LISTS = { documents: [], module_items: [], agenda_items: [] };
const DOCUMENT = {
  ...MARKS,
  id: 3,
  title: 'Raadsvoorstel fietspad Dorpsstraat',
  version: 1,
  types: [{ value: 'Raadsvoorstel' }],
  versions: [{ id: 1, mime_type: 'application/pdf', file_name: 'voorstel.pdf', file_size: 62_118 }],
};
const agendaItem = (id: number, title: string, more: object): object => ({
  ...MARKS,
  ...LISTS,
  id,
  type: 'agenda_point',
  order: id,
  ...more,
  type_data: { attributes: [{ id: 1, value: title }] },
});
const eventOn = ({ day, changed }: Days) => ({
  ...MARKS,
  id: 1,
  type: 'meeting',
  last_modified: `${changed} 10:00:00`,
  plannings: [{ start_date: `${day} 19:30:00` }],
});
const meetingOn = (days: Days): object => ({
  ...eventOn(days),
  ...LISTS,
  organisation: { id: 9911 },
  gremium: { id: 1 },
  canceled: 0,
  body: 'council',
  attributes: [{ id: 1, value: 'Raadsvergadering' }],
  agenda_items: [
    agendaItem(1, 'Aanleg van het fietspad langs de Dorpsstraat', { documents: [DOCUMENT] }),
    agendaItem(2, SECRET, { confidential: 1, documents: [{ ...DOCUMENT, id: 4, title: SECRET }] }),
  ],
});

async function serveNotubiz(app: FastifyInstance, days: Days): Promise<void> {
  const { day } = days;
  const fields = { field: [{ '@attributes': { id: '1' }, label: 'Titel' }] };
  const organisation = [{ '@attributes': { id: '9911' }, settings: { folder: { fields } } }];
  app.get('/organisations', async () => ({ organisations: { organisation } }));
  app.get('/organisations/9911/gremia', async () => ({ gremia: [{ id: 1, title: 'Gemeenteraad' }] }));
  app.get('/organisations/9911/modules', async () => ({ modules: [] }));
  app.get<{ Querystring: { date_from: string; date_to: string } }>('/events', async ({ query }) => {
    const events = query.date_from.slice(0, 10) <= day && query.date_to >= day ? [eventOn(days)] : [];
    const counts = { agenda_item_count: 2, document_count: 2 };
    return {
      events: events.map((event) => ({ ...event, event_type_data: counts })),
      pagination: { total_items: events.length, has_more_pages: false },
    };
  });
  app.get('/events/meetings/1', async () => ({ meeting: meetingOn(days) }));
}

function xml(members: Readonly<Record<string, string>>): string {
  return Object.entries(members)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('');
}

const ibabsDocument = (id: number, name: string): string => {
  const address = { PublicDownloadURL: `https://ibabs.voorbeeld.example/${id}` };
  return `<Document>${xml({ Id: `d${id}`, DisplayName: name, FileName: `${id}.pdf`, ...address })}</Document>`;
};
const ibabsItem = (number: number, title: string, more: Readonly<Record<string, string>>): string =>
  `<Item>${xml({ Id: `i${number}`, Features: `${number}`, Title: title, ...more })}</Item>`;

const answersOn = ({ day }: Days): Readonly<Record<string, string>> => ({
  GetMeetingtypes: `<Type>${xml({ Id: 't1', Meetingtype: 'Raad', Description: 'Gemeenteraad' })}</Type>`,
  GetMeetingsByDateRange: `<Meeting>${xml({
    Id: 'm1',
    MeetingtypeId: 't1',
    MeetingDate: `${day}T00:00:00`,
    StartTime: '20:00',
    Location: 'Raadzaal',
    Documents: ibabsDocument(1, 'Agenda raadsvergadering'),
    ListItems: '',
    MeetingItems:
      ibabsItem(1, 'Nieuw zwembad', { Documents: ibabsDocument(2, 'Raadsvoorstel nieuw zwembad') }) +
      ibabsItem(2, SECRET, { Confidential: 'true', Documents: ibabsDocument(3, SECRET) }),
  })}</Meeting>`,
});

async function serveIbabs(app: FastifyInstance, days: Days): Promise<void> {
  const { day } = days;
  const answers = answersOn(days);
  app.addContentTypeParser('text/xml', { parseAs: 'string' }, async (_request: unknown, body: string | Buffer) => body);
  app.post('/', async ({ headers, body }, reply) => {
    const operation = /IPublic\/(\w+)/.exec(String(headers.soapaction))?.[1] ?? '';
    const [from = '', to = ''] = ['StartDate', 'EndDate'].map((name) =>
      String(body).split(`<${name}>`)[1]?.slice(0, 10),
    );
    const isEmpty = operation === 'GetMeetingsByDateRange' && (from > day || to < day);
    const status = isEmpty
      ? xml({ Status: 'ERR', Message: 'No public meetings for this date range!' })
      : '<Status>OK</Status>';
    // The list of registers alone has no status.
    const result = operation === 'GetLists' ? '' : status + (isEmpty ? '' : (answers[operation] ?? ''));
    const answer = `<${operation}Response>${xml({ [`${operation}Result`]: result })}</${operation}Response>`;
    return await reply.type('text/xml').send(`<Envelope><Body>${answer}</Body></Envelope>`);
  });
}
