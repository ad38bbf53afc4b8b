import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentHash } from '../../src/lib/feed/record.ts';
import {
  agendapunt,
  asPage,
  document,
  type FeedServer,
  readAll,
  readRecords,
  removal,
  startFeed,
  vergadering,
} from './support.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed({ RAADSFEED_CONTACT: 'mailto:griffie@voorbeeld.example' });
});
afterAll(() => feed.stop());

describe('an empty feed', () => {
  it('answers every list empty', async () => {
    const page = asPage((await feed.api.call('GET', '/feed')).json);
    expect(page).toMatchObject({ records: [], head: 0, hasMore: false, next: null });
    expect(asPage((await feed.api.call('GET', '/snapshot')).json)).toMatchObject({ records: [], cursor: null });
    for (const list of ['vergaderingen', 'agendapunten', 'informatieobjecten']) {
      const answer = await feed.api.call('GET', `/organisaties/gm0001/${list}`);
      expect(answer.json).toEqual({ results: [], cursor: null, hasMore: false, next: null });
    }
  });
});

describe('a published feed', () => {
  beforeAll(async () => {
    const outcomes = await feed.publish([
      vergadering('v-1', { gewijzigdop: '2026-01-10T12:00:00+01:00' }),
      agendapunt('a/1 é'),
      document('d-1'),
      document('d-1'),
      removal('delete', 'Agendapunt', 'weg'),
      document('d-2', {}, { provincie: 'pv27', naam: 'Provincie Voorbeeld' }),
      removal('delete', 'Informatieobject', 'd-1', { verwijderreden: 'overig', toelichting: 'Dubbel' }),
    ]);
    expect(outcomes).toEqual([
      { recorded: 1 },
      { recorded: 2 },
      { recorded: 3 },
      'no-op',
      'no-op',
      { recorded: 4 },
      { recorded: 5 },
    ]);
  });

  it('has consecutive numbers and the whole resource in each upsert', async () => {
    const records = await readRecords(feed.api);
    expect(records.map(({ sequenceNumber }) => sequenceNumber)).toEqual([1, 2, 3, 4, 5]);
    expect(records[0]).toMatchObject({
      op: 'upsert',
      resource: { organisatiecode: 'gm9901', bronidentificatie: 'v-1' },
      gewijzigdOp: '2026-01-10T12:00:00+01:00',
      resourceUrl: `${feed.mount}/organisaties/gm9901/vergaderingen/v-1`,
    });
    for (const { data, contentHash: said } of records.slice(0, 4)) expect(said).toBe(contentHash(data));
    expect(records[4]).toMatchObject({ op: 'delete', verwijderreden: 'overig', toelichting: 'Dubbel' });
    expect(records[4]).not.toHaveProperty('data');
  });

  it('pages with a cursor and says when the reader has caught up', async () => {
    const pages = await readAll(feed.api, '/feed?limit=2');
    expect(pages.map(({ records }) => records.length)).toEqual([2, 2, 1]);
    expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
    expect(new Set(pages.map(({ head }) => head))).toEqual(new Set([5]));
    const last = pages.at(-1);
    const again = await feed.api.call('GET', `/feed?limit=2&cursor=${last?.cursor}`);
    expect(again.json).toEqual({ records: [], cursor: last?.cursor, head: 5, hasMore: false, next: null });
  });

  it('follows `next` to the same pages', async () => {
    const first = asPage((await feed.api.call('GET', '/feed?limit=3')).json);
    expect(first.next).toMatch(/^http.*\/ori\/v1\/feed\?cursor=.*&limit=3$/);
    const second = await feed.api.call('GET', (first.next ?? '').slice(feed.mount.length));
    expect(asPage(second.json).records.map(({ sequenceNumber }) => sequenceNumber)).toEqual([4, 5]);
  });

  it('filters by organisation, in any case, and by type', async () => {
    const numbers = async (query: string) =>
      (await readRecords(feed.api, `/feed?${query}`)).map((r) => r.sequenceNumber);
    expect(await numbers('organisatiecode=PV27')).toEqual([4]);
    expect(await numbers('resourceType=Informatieobject')).toEqual([3, 4, 5]);
    expect(await numbers('resourceType=Informatieobject&organisatiecode=gm9901&limit=1')).toEqual([3, 5]);
    expect(await numbers('organisatiecode=ws0001')).toEqual([]);
  });

  it('lets one cursor be used with any filter', async () => {
    const { cursor } = asPage((await feed.api.call('GET', '/feed?limit=3')).json);
    const page = asPage((await feed.api.call('GET', `/feed?organisatiecode=gm9901&cursor=${cursor}`)).json);
    expect(page.records.map(({ sequenceNumber }) => sequenceNumber)).toEqual([5]);
  });

  it('gives the current state as a snapshot that the feed continues from', async () => {
    const pages = await readAll(feed.api, '/snapshot?limit=2');
    expect(pages.flatMap(({ records }) => records.map(({ sequenceNumber }) => sequenceNumber))).toEqual([1, 2, 4]);
    expect(new Set(pages.map(({ feedCursor }) => feedCursor)).size).toBe(1);
    const after = asPage((await feed.api.call('GET', `/feed?cursor=${pages[0]?.feedCursor}`)).json);
    expect(after).toMatchObject({ records: [], head: 5, hasMore: false });
  });

  it('gives the current resources as a collection and individually', async () => {
    const list = await feed.api.call('GET', '/organisaties/GM9901/agendapunten');
    expect(asPage(list.json).results).toMatchObject([{ bronidentificatie: 'a/1 é' }]);
    const one = await feed.api.call('GET', `/organisaties/gm9901/agendapunten/${encodeURIComponent('a/1 é')}`);
    expect(one.json).toEqual(asPage(list.json).results[0]);
    expect(await feed.api.call('GET', '/organisaties/gm9901/informatieobjecten/d-1')).toMatchObject({ status: 404 });
    expect(await feed.api.call('GET', '/organisaties/gm9901/vergaderingen/onbekend')).toMatchObject({ status: 404 });
  });

  it('serves the resource at every `resourceUrl` of the current state', async () => {
    for (const { resourceUrl = '', data } of await readRecords(feed.api, '/snapshot')) {
      expect((await feed.api.call('GET', resourceUrl.slice(feed.mount.length))).json).toEqual(data);
    }
  });

  it('describes itself', async () => {
    const expected = {
      rol: 'bronhouder',
      organisaties: [
        { organisatiecode: 'gm9901', naam: 'Gemeente Voorbeeldstad', herkomstSoort: 'eigen' },
        { organisatiecode: 'pv27', naam: 'Provincie Voorbeeld', herkomstSoort: 'eigen' },
      ],
      feedUrl: `${feed.mount}/feed`,
      retentie: 'permanent',
      contact: 'mailto:griffie@voorbeeld.example',
    };
    expect((await feed.api.call('GET', '/')).json).toMatchObject(expected);
    expect((await feed.api.call('GET', '')).json).toMatchObject(expected);
    const page = await feed.api.call('GET', '/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('Gemeente Voorbeeldstad');
  });

  it('is found through the well-known addresses of the host', async () => {
    for (const name of ['council-feed', 'ori-feed']) {
      const answer = await fetch(`${feed.server.url}/.well-known/${name}`, { redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([307, feed.mount]);
    }
  });

  it('is not a register unless it is configured as one', async () => {
    expect((await feed.api.call('GET', '/register')).status).toBe(404);
  });
});
