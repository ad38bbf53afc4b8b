import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filesWith } from './database-files.ts';
import { openStream } from './stream-client.ts';
import {
  agendapunt,
  asPage,
  document,
  type FeedServer,
  PATIENT,
  readRecords,
  removal,
  startFeed,
  vergadering,
} from './support.ts';

const SECRET = 'Burgerservicenummer-van-Jansen';
/** Long enough for Postgres to store it outside its row, and incompressible. */
const LONG = randomBytes(6000).toString('base64url');
const LONG_SECRET = `${SECRET} ${LONG}`;

let feed: FeedServer;
let second: Awaited<ReturnType<FeedServer['another']>>;
beforeAll(async () => {
  feed = await startFeed({ 'raadsfeed.cacheMb': '16' });
  second = await feed.another();
  await feed.publish([
    vergadering('v-1'),
    document('d-1', { omschrijving: SECRET, auteur: 'Jansen' }),
    agendapunt('a-1'),
    document('d-1', { omschrijving: LONG_SECRET }),
    document('d-2', { omschrijving: 'gewoon' }),
    removal('delete', 'Informatieobject', 'd-1', { verwijderreden: 'correctie' }),
    document('d-1', { omschrijving: `${SECRET}, derde versie` }),
    ...Array.from({ length: 30 }, (_, i) => document(`vul-${i}`)),
  ]);
});
afterAll(() => feed.stop());

const PATHS = [
  '/feed',
  '/feed?limit=5',
  '/feed?limit=10&resourceType=Informatieobject',
  '/feed?organisatiecode=gm9901',
  '/snapshot',
  '/organisaties/gm9901/informatieobjecten',
  '/organisaties/gm9901/informatieobjecten/d-1',
];
const ENCODINGS = { identity: (b: Buffer) => b, gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

/** Every address in every encoding of one instance whose answer contains the text. */
async function addressesWith(mount: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of PATHS) {
    for (const [encoding, decode] of Object.entries(ENCODINGS)) {
      const body = await raw(mount + path, encoding);
      if ((body.encoding === 'identity' ? body.bytes : decode(body.bytes)).includes(text))
        found.push(`${encoding} ${path}`);
    }
  }
  return found;
}

async function raw(url: string, encoding: string): Promise<{ bytes: Buffer; encoding: string }> {
  const { request } = await import('undici');
  const { body, headers } = await request(url, { headers: { 'accept-encoding': encoding } });
  const said = headers['content-encoding'];
  return { bytes: Buffer.from(await body.arrayBuffer()), encoding: typeof said === 'string' ? said : 'identity' };
}

it('serves the text everywhere, from disk, memory and compressed copies, before it is redacted', async () => {
  for (const { mount } of [feed, second]) {
    await addressesWith(mount, SECRET);
    expect((await addressesWith(mount, SECRET)).length).toBeGreaterThan(16);
  }
  expect(await filesWith(feed.databaseUrl, SECRET)).not.toEqual([]);
  expect(await filesWith(feed.databaseUrl, LONG.slice(5000, 5040))).not.toEqual([]);
});

it('publishes the redaction at the head and leaves a redacted record at every number that held content', async () => {
  const stream = await openStream(`${second.mount}/feed/stream`);
  const outcomes = await feed.publish([
    removal('redact', 'Informatieobject', 'd-1', { verwijderreden: 'overig', toelichting: 'Op verzoek' }),
  ]);
  expect(outcomes).toEqual([{ recorded: 38, redacted: [2, 4, 7] }]);
  const records = await readRecords(feed.api);
  expect(records.map(({ sequenceNumber }) => sequenceNumber)).toEqual(Array.from({ length: 38 }, (_, i) => i + 1));
  const redaction = {
    op: 'redact',
    resourceType: 'Informatieobject',
    resource: { organisatiecode: 'gm9901', bronidentificatie: 'd-1' },
    verwijderreden: 'overig',
    toelichting: 'Op verzoek',
  };
  expect(records[37]).toEqual({
    ...redaction,
    sequenceNumber: 38,
    storedAt: records[37]?.storedAt,
    geredigeerdeSequenceNumbers: [2, 4, 7],
  });
  for (const number of [2, 4, 7]) {
    expect(records[number - 1]).toEqual({
      ...redaction,
      sequenceNumber: number,
      storedAt: records[0]?.storedAt,
      geredigeerdeSequenceNumbers: [number],
    });
  }
  expect(records[5]).toMatchObject({ op: 'delete', verwijderreden: 'correctie' });
  expect(JSON.parse((await stream.waitFor(1))[0]?.data ?? '')).toEqual(records[37]);
  stream.close();
});

it('has the text nowhere any more: no address, no compressed copy, no instance', async () => {
  await expect.poll(() => addressesWith(second.mount, SECRET), PATIENT).toEqual([]);
  expect(await addressesWith(feed.mount, SECRET)).toEqual([]);
});

it('has the text in no file of the database, not even in free space', async () => {
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
  expect(await filesWith(feed.databaseUrl, LONG.slice(5000, 5040))).toEqual([]);
});

it('leaves every other record unchanged', async () => {
  const records = await readRecords(feed.api);
  expect(records[4]?.data).toMatchObject({ bronidentificatie: 'd-2', omschrijving: 'gewoon' });
  expect(asPage((await feed.api.call('GET', '/organisaties/gm9901/informatieobjecten')).json).results).toHaveLength(31);
});

it('changes the ETag of redacted pages', async () => {
  const before = await feed.api.call('GET', '/feed?limit=5');
  const tag = before.headers.get('etag') ?? '';
  await feed.publish([removal('redact', 'Agendapunt', 'a-1')]);
  const answer = await feed.api.call('GET', '/feed?limit=5', { headers: { 'if-none-match': tag } });
  expect(answer.status).toBe(200);
  expect(asPage(answer.json).records[2]).toMatchObject({ op: 'redact', geredigeerdeSequenceNumbers: [3] });
});

it('records no redaction of a resource without content, and accepts new content afterwards', async () => {
  expect(await feed.publish([removal('redact', 'Informatieobject', 'd-1')])).toEqual(['no-op']);
  expect(await feed.publish([removal('redact', 'Vergadering', 'onbekend')])).toEqual(['no-op']);
  expect(await feed.publish([removal('delete', 'Informatieobject', 'd-1')])).toEqual(['no-op']);
  expect(await feed.publish([document('d-1', { omschrijving: 'schoon' })])).toEqual([{ recorded: 40 }]);
  expect((await feed.api.call('GET', '/organisaties/gm9901/informatieobjecten/d-1')).status).toBe(200);
});

it('leaves nothing of many in the free space of their pages', async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `veel-${i}`);
  await feed.publish(ids.map((id) => document(id, { omschrijving: `${SECRET}-${id}` })));
  expect(await filesWith(feed.databaseUrl, SECRET)).not.toEqual([]);
  await feed.publish(ids.map((id) => removal('redact', 'Informatieobject', id)));
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
});

it('reaches records published just before it in the same batch', async () => {
  const outcomes = await feed.publish([
    document('d-9', { omschrijving: SECRET }),
    removal('redact', 'Informatieobject', 'd-9'),
    document('d-9', { omschrijving: 'later' }),
  ]);
  expect(outcomes).toEqual([{ recorded: 161 }, { recorded: 162, redacted: [161] }, { recorded: 163 }]);
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
});
