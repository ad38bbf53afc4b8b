/** Details of the standard: times as they were given, open identifier types, empty periods, conditions. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createVerwerkingenlogClient } from '../../src/client/verwerkingenlog.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { koppelvlak } from './cli.ts';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'read:confidential', 'register:write'];

let database: TestDatabase;
let client: pg.Client;
let log: LogServer;

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  log = await startLog({ databaseUrl: database.url });
});
afterAll(async () => {
  await log?.stop();
  await client?.end();
  await database?.drop();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  log.call(ALL, 'GET', path, undefined, { ...HEADERS, ...headers });
const post = (body: unknown, headers: Record<string, string> = {}) =>
  log.call(ALL, 'POST', '/verwerkingsacties', body, headers);

/** The actions of a person in a list, without the entries left by readings. */
async function listed(person: string, more: Record<string, string> = {}) {
  const { results } = listIn(await get(`/verwerkingsacties?${ofPerson(person, more)}`));
  return results.filter(({ actieNaam }) => actieNaam === 'Zoeken persoon');
}

describe('a `tijdstip`', () => {
  it.each([
    ['2026-01-15T14:35:42+01:00', '2026-01-15T14:35:42+01:00'],
    ['2026-01-15T03:05:42.250-09:30', '2026-01-15T03:05:42.250-09:30'],
    ['2026-01-15T14:35:42+00:00', '2026-01-15T14:35:42+00:00'],
    ['2026-01-15T14:35:42-00:00', '2026-01-15T14:35:42-00:00'],
    ['2026-01-15t14:35:42z', '2026-01-15T14:35:42Z'],
    ['2025-12-31T23:59:59.999+14:00', '2025-12-31T23:59:59.999+14:00'],
    ['0001-01-01T23:59:59+23:59', '0001-01-01T23:59:59+23:59'],
  ])('given as %s is returned as %s, in every answer', async (given, answered) => {
    const person = newPerson();
    const body = actie(person, { tijdstip: given, bewaartermijn: null });
    const headers = { 'idempotency-key': `tijdstip-${person}` };
    const kept = actieIn(await post(body, headers));
    const path = `/verwerkingsacties/${kept.actieId}`;
    expect(kept.tijdstip).toBe(answered);
    expect(actieIn(await post(body, headers))).toEqual(kept);
    expect(actieIn(await get(path)).tijdstip).toBe(answered);
    expect((await listed(person)).map(({ tijdstip }) => tijdstip)).toEqual([answered]);
    expect((await listed(person, { beperkteSet: 'false' })).map(({ tijdstip }) => tijdstip)).toEqual([answered]);
    const objects = listIn(await get(`/verwerkte-objecten?${ofPerson(person)}`)).results;
    expect(objects.map(({ verwerkingsactie }) => Object(verwerkingsactie).tijdstip)).toContain(answered);
    const object = await get(`/verwerkte-objecten/${kept.actieId.slice(0, 32)}0001`);
    expect(Object(object.json).verwerkingsactie.tijdstip).toBe(answered);

    const { tijdstipRegistratie: _, url: __, actieId: ___, ...whole } = actieIn(await get(path));
    expect(actieIn(await log.call(ALL, 'PUT', path, { ...whole, systeem: 'Balie 3' })).tijdstip).toBe(answered);
    await log.call(ALL, 'PATCH', `/verwerkingsacties?verwerkingId=${body.verwerkingId}`, { bewaartermijn: 'P9000Y' });
    expect(actieIn(await get(path)).tijdstip).toBe(answered);
    const moved = await log.call(ALL, 'PUT', path, { ...whole, tijdstip: '2026-03-01T12:00:00+05:45' });
    expect(actieIn(moved).tijdstip).toBe('2026-03-01T12:00:00+05:45');
  });

  it('is sorted and selected by its instant, whatever its offset', async () => {
    const person = newPerson();
    for (const tijdstip of ['2026-05-01T12:00:00+02:00', '2026-05-01T05:00:00-06:00', '2026-05-01T10:30:00Z']) {
      await post(actie(person, { tijdstip }));
    }
    const order = ['2026-05-01T05:00:00-06:00', '2026-05-01T10:30:00Z', '2026-05-01T12:00:00+02:00'];
    expect((await listed(person)).map(({ tijdstip }) => tijdstip)).toEqual(order);
    const period = { beginDatum: '2026-05-01T10:30:00Z', eindDatum: '2026-05-01T11:00:00Z' };
    expect((await listed(person, period)).map(({ tijdstip }) => tijdstip)).toEqual(['2026-05-01T10:30:00Z']);
    const paged = listIn(await get(`/verwerkingsacties?${ofPerson(person, { limit: '2', eindDatum: '2026-05-02' })}`));
    expect(paged.results.map(({ tijdstip }) => tijdstip)).toEqual(order.slice(0, 2));
    const rest = listIn(await get(paged.next?.replace(/^.*\/v1/, '') ?? ''));
    expect(rest.results.map(({ tijdstip }) => tijdstip)).toEqual(order.slice(2));
  });

  it('is unchanged by the client for other applications', async () => {
    const token = (await log.tokens.bearer(ALL)).authorization?.replace('Bearer ', '') ?? '';
    const application = createVerwerkingenlogClient({
      url: `${log.server.url}/verwerkingenlog/v1`,
      token: async () => token,
    });
    const tijdstip = '2026-06-01T09:00:00+02:00';
    const kept = await application.log({
      actieNaam: 'Zoeken persoon',
      vertrouwelijkheid: 'normaal',
      soortAfnemerId: 'KvK',
      afnemerId: '12345678',
      tijdstip,
      verwerkteObjecten: [],
    });
    expect(kept).toMatchObject({ tijdstip, soortAfnemerId: 'KvK', afnemerId: '12345678' });
  });
});

describe('a `soortAfnemerId`', () => {
  it('may be anything of at most 242 characters', async () => {
    for (const soortAfnemerId of ['KvK', 'rsin', 'x'.repeat(242), '', null]) {
      const kept = actieIn(await post(actie(newPerson(), { soortAfnemerId, afnemerId: '12345678' })));
      expect(kept).toMatchObject({ soortAfnemerId, afnemerId: '12345678' });
      expect(actieIn(await get(`/verwerkingsacties/${kept.actieId}`))).toMatchObject({ soortAfnemerId });
    }
    const long = await post(actie(newPerson(), { soortAfnemerId: 'x'.repeat(243) }));
    expect(long.json).toMatchObject({ status: 400, invalidParams: [{ name: 'soortAfnemerId', code: 'maxLength' }] });
  });

  it.each([
    'BSN',
    'bsn',
    ' Bsn ',
    'B.S.N.',
    '"bsn"',
    'BSN:',
    '\u00a0BSN\u200b',
    'burgerservicenummer',
    'NL.BSN',
    'OIN',
    '',
    null,
  ])('%j does not keep a citizen service number readable at rest', async (soortAfnemerId) => {
    const receiver = newPerson();
    const { actieId } = actieIn(await post(actie(newPerson(), { soortAfnemerId, afnemerId: receiver })));
    expect(actieIn(await get(`/verwerkingsacties/${actieId}`)).afnemerId).toBe(receiver);
    const { rows } = await client.query('select t::text as row from verwerkingenlog.versies t where actie_id = $1', [
      actieId,
    ]);
    expect(JSON.stringify(rows)).not.toContain(receiver);
    expect((await koppelvlak(database.url, ['log', 'history', actieId])).out).not.toContain(receiver);
  });

  it('leaves an OIN in plain text', async () => {
    const { actieId } = actieIn(await post(actie(newPerson())));
    const { rows } = await client.query('select afnemer_id from verwerkingenlog.versies where actie_id = $1', [
      actieId,
    ]);
    expect(rows).toEqual([{ afnemer_id: '00000099000000002000' }]);
  });

  it.each(['bsn', ' BSN'])('%j is checked by the eleven test like a BSN', async (soortAfnemerId) => {
    const checking = await startLog({ env: { VERWERKINGENLOG_CHECK_BSN: 'true' } });
    try {
      const body = actie('999990019', { soortAfnemerId, afnemerId: '123456789' });
      const answer = await checking.call(ALL, 'POST', '/verwerkingsacties', body);
      expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ name: 'afnemerId', code: 'bsn' }] });
    } finally {
      await checking.stop();
    }
  });
});

it('answers an empty period with an empty list, and one that ends before it begins with 400', async () => {
  const person = newPerson();
  await post(actie(person));
  for (const list of ['verwerkingsacties', 'verwerkte-objecten']) {
    for (const at of ['2026-01-15', '2026-01-15T13:35:42Z']) {
      const empty = await get(`/${list}?${ofPerson(person, { beginDatum: at, eindDatum: at })}`);
      expect(empty.json).toEqual({ count: 0, next: null, previous: null, results: [] });
    }
    const wrong = await get(`/${list}?${ofPerson(person, { beginDatum: '2026-01-16', eindDatum: '2026-01-15' })}`);
    expect(wrong.json).toMatchObject({ status: 400, invalidParams: [{ name: 'eindDatum', code: 'order' }] });
  }
});

describe('If-None-Match', () => {
  it('gives 304 for a version that the caller has, and 200 for another one', async () => {
    const body = actie(newPerson());
    const { actieId } = actieIn(await post(body));
    const activity = '0f0bef4c-f66f-4311-84a5-19e8bf359eaf';
    await log.call(ALL, 'PUT', `/verwerkingsactiviteiten/${activity}`, {
      naam: 'Schuldhulp',
      verantwoordelijkeOrganisatie: '00000099000000001000',
      doel: 'Hulp',
      grondslag: 'Publieke taak',
    });
    for (const path of [
      `/verwerkingsacties/${actieId}`,
      `/verwerkte-objecten/${actieId.slice(0, 32)}0001`,
      `/verwerkingsactiviteiten/${activity}`,
    ]) {
      const tag = (await get(path)).headers.get('etag') ?? '';
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, `"a,b" , W/"x",W/${tag}`, '*', ' * ']) {
        const answer = await get(path, { 'if-none-match': known });
        expect([answer.status, answer.text, answer.headers.get('etag')], known).toEqual([304, '', tag]);
        const head = await log.call(ALL, 'HEAD', path, undefined, { ...HEADERS, 'if-none-match': known });
        expect(head.status).toBe(304);
      }
      for (const other of ['"x"', tag.slice(1, -1), `"${tag.slice(1, -1)}0"`, '']) {
        expect((await get(path, { 'if-none-match': other })).status, other).toBe(200);
      }
    }
    const path = `/verwerkingsacties/${actieId}`;
    const tag = (await get(path)).headers.get('etag') ?? '';
    await log.call(ALL, 'PUT', path, { ...body, systeem: 'anders' });
    expect((await get(path, { 'if-none-match': tag })).status).toBe(200);
    const unknown = '/verwerkingsacties/0198c0de-7c1e-7aa0-9b1c-3d5e7f900000';
    expect((await get(unknown, { 'if-none-match': '*' })).status).toBe(404);
  });
});
