/** Resources with every possible member are returned as they were published. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { contentHash } from '../../src/lib/feed/record.ts';
import { canonicalJson } from '../../src/lib/json/canonical-json.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readOpenapi } from '../../src/lib/openapi-document.ts';
import { agendapunt, asPage, document, type FeedServer, readRecords, startFeed, vergadering } from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed.stop());

const MOMENT = '2026-01-15T19:30:00.5+01:00';
const ref = (bronidentificatie: string, extra: object = {}) => ({ bronidentificatie, ...extra });
const shared = { url: 'https://raad.example/x', webpaginalink: 'https://raad.example/x.html', gewijzigdop: MOMENT };

const FULL = {
  Vergadering: vergadering('vol/1', {
    ...shared,
    aanvang: MOMENT,
    einde: MOMENT,
    geplandeaanvang: MOMENT,
    geplandeeinde: MOMENT,
    geplandedatum: '2026-01-15',
    vergaderdatum: '2026-01-15',
    locatie: 'Raadzaal',
    vergaderstatus: 'gehouden',
    ...{
      vergaderingstype: 'raad',
      vergadertoelichting: 'Met "aanhalingstekens" en \u2028 en é',
      hoofdvergadering: ref('h-1'),
    },
    deelvergaderingen: [ref('d-1'), ref('d-1', { organisatiecode: 'pv27' })],
    agendapunten: [ref('a-1', { url: 'https://raad.example/a-1' })],
    georganiseerddoorgremium: { gremiumidentificatie: '1', gremiumnaam: 'Raad' },
  }),
  Agendapunt: agendapunt('vol/1', {
    ...shared,
    hoofdagendapunt: ref('a-0'),
    subagendapunten: [ref('a-2')],
    omschrijving: 'o',
    volgnummer: '1a',
    geplandvolgnummer: '1',
    tussenkop: 't',
    overig: 'x',
    locatie: 'l',
    starttijd: MOMENT,
    eindtijd: MOMENT,
    geplandestarttijd: MOMENT,
    geplandeeindtijd: MOMENT,
    indicatiehamerstuk: null,
    indicatiebehandeld: true,
    indicatiebesloten: false,
  }),
  InformatieObject: document('vol/1', {
    ...shared,
    bestandsurl: 'https://raad.example/x.pdf',
    formaat: 'application/pdf',
    omvang: 0,
    auteur: 'a',
    checksum: `sha256:${'0'.repeat(64)}`,
    bronorganisatie: 'b',
    creatiedatum: '2026',
    informatieobjecttype: 'i',
    omschrijving: 'o',
    taal: 'nl',
    vergaderingen: [ref('v-1')],
    agendapunten: [],
    id: 'oud',
    gerelateerdinformatieobject: { informatieobject: ref('d-9'), rol: 'bijlage' },
  }),
};

const dataOf = (line: object): Record<string, unknown> => {
  const { data } = { data: undefined, ...line };
  if (!isRecord(data)) throw new TypeError('no data');
  return data;
};

it('cover in these examples every member of the contract', () => {
  const { components } = readOpenapi(new URL('../../openapi/raadsfeed.yaml', import.meta.url));
  for (const [name, line] of Object.entries(FULL)) {
    const schema = components?.schemas?.[name];
    const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
    expect(Object.keys(dataOf(line)).sort()).toEqual(Object.keys(properties).sort());
  }
});

it('are in the feed, the snapshot, their collection and individually as they were published', async () => {
  expect(await feed.publish(Object.values(FULL))).toEqual([{ recorded: 1 }, { recorded: 2 }, { recorded: 3 }]);
  const lists = { Vergadering: 'vergaderingen', Agendapunt: 'agendapunten', InformatieObject: 'informatieobjecten' };
  const [records, snapshot] = [await readRecords(feed.api), await readRecords(feed.api, '/snapshot')];
  expect(snapshot).toEqual(records);
  for (const [i, [name, line]] of Object.entries(FULL).entries()) {
    const data = dataOf(line);
    expect(records[i]).toMatchObject({ gewijzigdOp: MOMENT, contentHash: contentHash(data) });
    expect(records[i]?.data).toEqual(data);
    const list = Object.entries(lists).find(([kind]) => kind === name)?.[1];
    expect(asPage((await feed.api.call('GET', `/organisaties/gm9901/${list}`)).json).results).toEqual([data]);
    const one = await feed.api.call('GET', `/organisaties/gm9901/${list}/vol%2F1`);
    expect(canonicalJson(one.json)).toBe(canonicalJson(data));
  }
});

it('are not recorded again with their members in another order, but are when one is missing', async () => {
  const turned = Object.values(FULL).map((line) => ({
    ...line,
    data: Object.fromEntries(Object.entries(dataOf(line)).reverse()),
  }));
  expect(await feed.publish(turned)).toEqual(['no-op', 'no-op', 'no-op']);
  const { locatie: _, ...rest } = dataOf(FULL.Vergadering);
  expect(await feed.publish([{ ...FULL.Vergadering, data: rest }])).toEqual([{ recorded: 4 }]);
});
