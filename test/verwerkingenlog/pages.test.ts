import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

let log: LogServer;

beforeAll(async () => {
  // Entries about reading would shift the pages under the test.
  log = await startLog({ env: { 'verwerkingenlog.logReads': 'false' } });
});
afterAll(() => log?.stop());

const READ = ['read:confidential'];

async function get(path: string) {
  return listIn(await log.call(READ, 'GET', path, undefined, HEADERS));
}

/** Follows links; every address is absolute and ours. */
async function follow(link: string | null) {
  const base = `${log.server.url}/verwerkingenlog/v1`;
  expect(link?.startsWith(`${base}/`)).toBe(true);
  return get((link ?? '').slice(base.length));
}

async function keep(person: string, tijdstip: string, more: Record<string, unknown> = {}) {
  return actieIn(await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(person, { tijdstip, ...more })))
    .actieId;
}

describe('pages', () => {
  it('go forward and back over every action once, even at equal times', async () => {
    const person = newPerson();
    const times = ['2026-01-03T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-02T00:00:00.001Z'];
    const kept = await Promise.all(
      [...times, ...times].map(async (tijdstip) => ({ tijdstip, id: await keep(person, tijdstip) })),
    );
    const order = kept
      .toSorted((a, b) => Date.parse(b.tijdstip) - Date.parse(a.tijdstip) || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
    for (const place of ['/verwerkingsacties', '/verwerkte-objecten']) {
      const idsIn = (list: { results: readonly Record<string, unknown>[] }) =>
        list.results.map((result) => Object(result.verwerkingsactie ?? result).actieId);
      const forward: string[] = [];
      let page = await get(`${place}?${ofPerson(person)}&limit=3`);
      expect(page.previous).toBeNull();
      const seen = [page];
      for (; page.next !== null; seen.push(page)) page = await follow(page.next);
      for (const one of seen) {
        expect(one.count).toBe(8);
        forward.push(...idsIn(one));
      }
      expect(forward).toEqual(order);
      const back: string[][] = [idsIn(page)];
      while (page.previous !== null) {
        page = await follow(page.previous);
        back.unshift(idsIn(page));
      }
      expect(back.flat()).toEqual(order);
    }
  });

  it('are limited by times and by Dutch days, begin included and end not', async () => {
    const person = newPerson();
    const at = ['2026-03-28T23:00:00Z', '2026-03-29T21:59:59.999Z', '2026-03-29T22:00:00Z'];
    for (const tijdstip of at) await keep(person, tijdstip);
    const times = async (query: Record<string, string>) =>
      (await get(`/verwerkingsacties?${ofPerson(person, query)}`)).results.map(({ tijdstip }) => tijdstip);
    // The clocks go forward on this day: it has 23 hours.
    expect(await times({ beginDatum: '2026-03-29', eindDatum: '2026-03-30' })).toEqual([at[1], at[0]]);
    expect(await times({ beginDatum: '2026-03-29T23:59:59.999+02:00' })).toEqual([at[2], at[1]]);
    expect(await times({ eindDatum: '2026-03-28T23:00:00Z' })).toEqual([]);
  });

  it('can be limited to one processing activity', async () => {
    const person = newPerson();
    const id = '11111111-f66f-4311-84a5-19e8bf359eaf';
    const kept = await keep(person, '2026-01-01T00:00:00Z', { verwerkingsactiviteitId: id });
    await keep(person, '2026-01-01T00:00:00Z');
    const { results } = await get(
      `/verwerkingsacties?${ofPerson(person, { verwerkingsactiviteitId: id.toUpperCase() })}`,
    );
    expect(results.map(({ actieId }) => actieId)).toEqual([kept]);
  });
});

it('of processed objects count objects, including those of a person with several roles in one action', async () => {
  const person = newPerson();
  const roles = ['Aanvrager', 'Partner', 'Gemachtigde'];
  for (const tijdstip of ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']) {
    const objects = roles.map((betrokkenheid) => ({
      objecttype: 'persoon',
      soortObjectId: 'BSN',
      objectId: person,
      betrokkenheid,
    }));
    const other = { objecttype: 'persoon', soortObjectId: 'BSN', objectId: newPerson() };
    const body = actie(person, { tijdstip, verwerkteObjecten: [other, ...objects] });
    await log.call(['create:normal'], 'POST', '/verwerkingsacties', body);
  }
  const get = async (path: string) => listIn(await log.call(READ, 'GET', path, undefined, HEADERS));
  const past = { eindDatum: '2026-02-01' };
  const seen: unknown[] = [];
  const pages: string[] = [];
  let previous: string | null = null;
  for (let path: string | null = `/verwerkte-objecten?${ofPerson(person, { ...past, limit: '2' })}`; path !== null; ) {
    const page = await get(path);
    expect(page.count).toBe(6);
    expect(page.results).toHaveLength(2);
    seen.push(...page.results.map(({ betrokkenheid }) => betrokkenheid));
    pages.push(page.results.map(({ verwerktObjectId }) => verwerktObjectId).join());
    previous = page.previous;
    path = page.next === null ? null : page.next.slice(page.next.indexOf('/verwerkte-objecten'));
  }
  expect(seen).toEqual([...roles, ...roles]);
  expect(new Set(pages.join().split(',')).size).toBe(6);
  const back = await get((previous ?? '').slice((previous ?? '').indexOf('/verwerkte-objecten')));
  expect(back.results.map(({ verwerktObjectId }) => verwerktObjectId).join()).toBe(pages[1]);
  const acties = await get(`/verwerkingsacties?${ofPerson(person, past)}`);
  expect(acties.count).toBe(2);
});

describe('impossible queries', () => {
  it.each([
    [{ beginDatum: '2026-01-02', eindDatum: '2026-01-01' }, ['eindDatum']],
    [{ beginDatum: '2026-02-30', eindDatum: 'x', limit: '0', cursor: '' }, ['beginDatum', 'eindDatum', 'limit']],
    [{ limit: '1001' }, ['limit']],
    [{ cursor: 'bm90YWN1cnNvcg' }, ['cursor']],
    [
      {
        cursor: Buffer.from('[1,"2026-13-01T00:00:00Z","0198c0de-7c1e-7aa0-9b1c-3d5e7f901234"]').toString('base64url'),
      },
      ['cursor'],
    ],
    [{ beginDatum: '0001-01-01T00:00:00+10:00', cursor: '%00' }, ['beginDatum', 'cursor']],
    [
      { objecttype: 'huis', vertrouwelijkheid: 'geheim', beperkteSet: 'misschien', onbekend: '1' },
      ['objecttype', 'vertrouwelijkheid', 'beperkteSet', 'onbekend'],
    ],
    [
      { vertrouwelijkheid__in: 'normaal;opgeheven', objectId: '', soortObjectId: '' },
      ['vertrouwelijkheid__in', 'objectId', 'soortObjectId'],
    ],
  ])('%j', async (query, names) => {
    const answer = await log.call(
      READ,
      'GET',
      `/verwerkingsacties?${ofPerson('999990019', query)}`,
      undefined,
      HEADERS,
    );
    expect(answer.status).toBe(400);
    const found = Object(answer.json).invalidParams.map(({ name }: { name: string }) => name);
    expect(found).toEqual(expect.arrayContaining(names));
  });

  it.each(['/verwerkingsacties', '/verwerkte-objecten'])(
    'names `%%2B` for a raw plus in a time of %s',
    async (path) => {
      const answer = await log.call(
        READ,
        'GET',
        `${path}?${ofPerson('999990019')}&beginDatum=2026-01-01T00:00:00+01:00&eindDatum=x`,
        undefined,
        HEADERS,
      );
      expect(Object(answer.json).invalidParams).toEqual([
        { name: 'beginDatum', code: 'format', reason: expect.stringContaining('`%2B`') },
        { name: 'eindDatum', code: 'format', reason: 'is geen geldige waarde van de soort `date` of `date-time`' },
      ]);
    },
  );

  it('requires the person', async () => {
    const answer = await log.call(READ, 'GET', '/verwerkingsacties', undefined, HEADERS);
    expect(answer.json).toMatchObject({
      invalidParams: [{ name: 'objecttype' }, { name: 'soortObjectId' }, { name: 'objectId' }],
    });
  });
});
