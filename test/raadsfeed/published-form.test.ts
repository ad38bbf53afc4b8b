/** Requirements of the published form beyond its members: web addresses only, and parts that are complete or absent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readOpenapi } from '../../src/lib/openapi-document.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { openStream } from './stream-client.ts';
import { agendapunt, document, type FeedServer, startFeed, vergadering } from './support.ts';

const validate = createLineValidator();
const faultsOf = (line: object): readonly string[] => {
  const checked = validate(line);
  return 'faults' in checked ? checked.faults : [];
};

const SCHEMES = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'ftp://raad.example/x',
  'mailto:griffie@raad.example',
  'https:raad.example',
  'https:///pad',
];
const ref = (url: string): object => ({ bronidentificatie: 'x', url });
/** Every member that is an address, of every resource type, including nested ones. */
const ADDRESSES: readonly (readonly [string, (url: string) => object])[] = [
  ['Vergadering.url', (url) => vergadering('v', { url })],
  ['Vergadering.webpaginalink', (webpaginalink) => vergadering('v', { webpaginalink })],
  ['Vergadering.hoofdvergadering.url', (url) => vergadering('v', { hoofdvergadering: ref(url) })],
  ['Vergadering.deelvergaderingen[].url', (url) => vergadering('v', { deelvergaderingen: [ref(url)] })],
  ['Vergadering.agendapunten[].url', (url) => vergadering('v', { agendapunten: [ref(url)] })],
  ['Agendapunt.url', (url) => agendapunt('a', { url })],
  ['Agendapunt.webpaginalink', (webpaginalink) => agendapunt('a', { webpaginalink })],
  ['Agendapunt.vergadering.url', (url) => agendapunt('a', { vergadering: ref(url) })],
  ['Agendapunt.hoofdagendapunt.url', (url) => agendapunt('a', { hoofdagendapunt: ref(url) })],
  ['Agendapunt.subagendapunten[].url', (url) => agendapunt('a', { subagendapunten: [ref(url)] })],
  ['InformatieObject.url', (url) => document('d', { url })],
  ['InformatieObject.webpaginalink', (webpaginalink) => document('d', { webpaginalink })],
  ['InformatieObject.bestandsurl', (bestandsurl) => document('d', { bestandsurl })],
  ['InformatieObject.vergaderingen[].url', (url) => document('d', { vergaderingen: [ref(url)] })],
  ['InformatieObject.agendapunten[].url', (url) => document('d', { agendapunten: [ref(url)] })],
  [
    'InformatieObject.gerelateerdinformatieobject.informatieobject.url',
    (url) => document('d', { gerelateerdinformatieobject: { informatieobject: ref(url), rol: 'bijlage' } }),
  ],
];

describe('an address', () => {
  it.each(ADDRESSES)('is refused in %s when it is not a web address', (_member, line) => {
    for (const url of SCHEMES) expect(faultsOf(line(url)), url).not.toEqual([]);
    for (const url of ['https://raad.example/x?y#z', 'HTTP://raad.example'])
      expect(faultsOf(line(url)), url).toEqual([]);
  });

  it('occurs in no other member of the contract', () => {
    const { components } = readOpenapi(new URL('../../openapi/raadsfeed.yaml', import.meta.url));
    const found: string[] = [];
    const walk = (schema: unknown, path: string): void => {
      if (!isRecord(schema)) return;
      const { $ref } = schema;
      if ($ref === '#/components/schemas/Webadres' || schema.format === 'uri') found.push(path);
      else if (typeof $ref === 'string') walk(components?.schemas?.[$ref.slice($ref.lastIndexOf('/') + 1)], path);
      for (const [name, member] of Object.entries(isRecord(schema.properties) ? schema.properties : {}))
        walk(member, `${path}.${name}`);
      if (schema.items !== undefined) walk(schema.items, `${path}[]`);
    };
    for (const type of ['Vergadering', 'Agendapunt', 'InformatieObject']) walk(components?.schemas?.[type], type);
    expect(found.sort()).toEqual(ADDRESSES.map(([member]) => member).sort());
  });
});

describe('a part', () => {
  it.each([
    vergadering('v', { georganiseerddoorgremium: {} }),
    vergadering('v', { georganiseerddoorgremium: { gremiumnaam: 'Raad' } }),
    vergadering('v', { georganiseerddoorgremium: { gremiumidentificatie: '1' } }),
    document('d', { gerelateerdinformatieobject: {} }),
    document('d', { gerelateerdinformatieobject: { rol: 'bijlage' } }),
    document('d', { gerelateerdinformatieobject: { informatieobject: { bronidentificatie: 'x' } } }),
  ])('is refused when incomplete: %j', (line) => {
    expect(faultsOf(line)).not.toEqual([]);
  });

  it('may be absent', () => {
    expect(faultsOf(vergadering('v'))).toEqual([]);
    expect(faultsOf(document('d', { gerelateerdinformatieobject: null }))).toEqual([]);
  });
});

describe('for clients of the published draft', () => {
  let feed: FeedServer;
  beforeAll(async () => {
    feed = await startFeed();
  });
  afterAll(() => feed.stop());

  it('a stream names no event, so that `EventSource.onmessage` gets its records', async () => {
    await feed.publish([vergadering('v-1')]);
    const stream = await openStream(`${feed.mount}/feed/stream`, { 'last-event-id': '0' });
    expect(await stream.waitFor(1)).toMatchObject([{ id: 1, event: 'message' }]);
    expect(stream.raw()).not.toMatch(/^event:/m);
    stream.close();
  });

  it('the service document omits `laatstBijgewerkt` as long as nothing was read', async () => {
    await feed.pool.query(
      `insert into raadsfeed.organisaties (organisatiecode, naam, herkomst, herkomst_soort) values ('gm9902', 'Elders', 'https://raad.example/feed', 'feed')`,
    );
    const { json } = await feed.api.call('GET', '/');
    const organisations = isRecord(json) && Array.isArray(json.organisaties) ? json.organisaties : [];
    expect(organisations.find(({ organisatiecode }) => organisatiecode === 'gm9902')).toEqual({
      organisatiecode: 'gm9902',
      naam: 'Elders',
      herkomst: 'https://raad.example/feed',
      herkomstSoort: 'feed',
    });
  });

  it('`dossiertype` determines the form of `data` in the contract', () => {
    const { components } = readOpenapi(new URL('../../openapi/raadsfeed.yaml', import.meta.url));
    expect(components?.schemas?.FeedRecord).toMatchObject({
      properties: { data: { oneOf: expect.any(Array), discriminator: { propertyName: 'dossiertype' } } },
    });
  });
});
