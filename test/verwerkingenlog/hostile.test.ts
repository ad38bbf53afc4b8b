/** Attempts of a caller with a valid token to hurt the service; each gets the proper answer. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'read:confidential', 'register:write'];

let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

const post = (body: unknown) => log.call(ALL, 'POST', '/verwerkingsacties', body);
const get = (path: string) => log.call(ALL, 'GET', path, undefined, HEADERS);

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Names of the faults that an answer lists. */
function faultNames(json: unknown): string[] {
  return Object(json).invalidParams.map(({ name }: { name: string }) => name);
}

describe('a body', () => {
  it.each(['{}', 'null', '[[]]'])(
    'of a megabyte of %s is refused at once, with the first of its faults',
    async (item) => {
      const many = Array.from({ length: Math.floor(1_040_000 / (item.length + 1)) }, () => item).join(',');
      const body = JSON.stringify({ ...actie('1'), verwerkteObjecten: 'HERE' }).replace('"HERE"', `[${many}]`);
      const answer = await post(body);
      expect(answer.status).toBe(400);
      const names = faultNames(answer.json);
      expect(names).toContain('verwerkteObjecten');
      expect(names.length).toBeGreaterThanOrEqual(500);
      expect(names.length).toBeLessThan(1010);
    },
  );

  it('of a megabyte of unknown members is refused at once', async () => {
    const body = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`onbekend${i}`, 1]));
    expect((await post({ ...actie('1'), ...body })).status).toBe(400);
  });

  it.each([
    ['POST', '/verwerkingsacties', ''],
    ['POST', '/verwerkingsacties', 'verwerkteObjecten'],
    ['PUT', `/verwerkingsacties/${randomUUID()}`, ''],
    ['PATCH', `/verwerkingsacties?verwerkingId=${randomUUID()}`, ''],
    ['PUT', `/verwerkingsactiviteiten/${randomUUID()}`, ''],
  ])(
    'of ninety thousand members, %s %s %s, is refused in less time than it takes to read it',
    async (method, path, place) => {
      const many = Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [`o${i}`, 1]));
      const body = JSON.stringify(place === '' ? many : { [place]: [many] });
      const reading: number[] = [];
      const refusing: number[] = [];
      for (let i = 0; i < 4; i += 1) {
        reading.push(await timed(() => JSON.parse(body)));
        refusing.push(
          await timed(async () => {
            const answer = await log.call(ALL, method, path, body);
            expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ code: 'maxProperties' }] });
          }),
        );
      }
      expect(Math.min(...refusing)).toBeLessThan(Math.min(...reading));
    },
  );

  it('of many objects with many unknown members is refused with the first of its faults', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`o${i}`, 1]));
    const answer = await post(actie('1', { verwerkteObjecten: Array(90).fill(wrong) }));
    expect(answer.status).toBe(400);
    const names = faultNames(answer.json);
    expect(names.length).toBeLessThanOrEqual(1001);
    expect(names).toContain('verwerkteObjecten.0.o899');
  });

  it('with a name as long as itself is answered without that name', async () => {
    const answer = await post({ ...actie('1'), ['ï'.repeat(400_000)]: 1 });
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(2000);
    expect(faultNames(answer.json)).toEqual([`${'ï'.repeat(200)}…`]);
  });

  it('may have as many members in total as there are persons, and braces and colons in its texts', async () => {
    const person = { objecttype: 'persoon', soortObjectId: 'B{"S\\:N', objectId: '{:"\\', betrokkenheid: '::::}{' };
    expect((await post(actie('1', { verwerkteObjecten: Array(1500).fill(person) }))).status).toBe(201);
  });

  it('with a fault beyond the first thousand elements is reported with it', async () => {
    const good = { objecttype: 'persoon', soortObjectId: 'BSN', objectId: '1' };
    const answer = await post(
      actie('1', { verwerkteObjecten: [...Array(1500).fill(good), { ...good, objectId: '' }] }),
    );
    expect(answer.status).toBe(400);
    expect(faultNames(answer.json)).toEqual(['verwerkteObjecten.1500.objectId']);
  });

  it.each(['url', 'actieId', 'tijdstipRegistratie'])('may have anything in %s, which is read-only', async (name) => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const body = JSON.stringify(actie(newPerson(), { [name]: 'HERE' }));
    expect((await post(body.replace('"HERE"', deep))).status).toBe(201);
  });

  it('may have anything in the read-only members of a processed person', async () => {
    const [object] = actie(newPerson()).verwerkteObjecten;
    const body = actie('1', { verwerkteObjecten: [{ ...object, url: ['x'], verwerktObjectId: 5 }] });
    expect((await post(body)).status).toBe(201);
  });
});

describe('a cursor', () => {
  it.each([
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:60Z',
  ])('with the time %s, which does not exist, is refused', async (moment) => {
    const cursor = Buffer.from(JSON.stringify([1, moment, randomUUID()])).toString('base64url');
    for (const list of ['verwerkingsacties', 'verwerkte-objecten']) {
      const answer = await get(`/${list}?${ofPerson(newPerson(), { cursor })}`);
      expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ name: 'cursor' }] });
    }
  });

  it('of another person shows only the requested person', async () => {
    const [person, other] = [newPerson(), newPerson()];
    for (const objectId of [person, person, other, other]) await post(actie(objectId));
    const first = listIn(await get(`/verwerkingsacties?${ofPerson(other, { limit: '1' })}`));
    const cursor = new URL(first.next ?? '').searchParams.get('cursor') ?? '';
    const page = listIn(await get(`/verwerkingsacties?${ofPerson(person, { cursor, limit: '1' })}`));
    for (const { verwerkteObjecten } of page.results) expect(verwerkteObjecten).toMatchObject([{ objectId: person }]);
  });

  it('walks a register with names of the maximum length', async () => {
    const names = ['\u0001', '"', '€', '😀'].map((character) => character.repeat(242));
    const fields = { verantwoordelijkeOrganisatie: HEADERS.OIN, doel: 'x', grondslag: 'Publieke taak' };
    for (const naam of names) {
      expect((await log.call(ALL, 'PUT', `/verwerkingsactiviteiten/${randomUUID()}`, { ...fields, naam })).status).toBe(
        201,
      );
    }
    const seen: unknown[] = [];
    for (
      let next: string | null = `${log.server.url}/verwerkingenlog/v1/verwerkingsactiviteiten?limit=1`;
      next !== null;
    ) {
      const page = listIn(await get(next.slice(next.indexOf('/verwerkingsactiviteiten'))));
      seen.push(...page.results.map(({ naam }) => naam));
      next = page.next;
    }
    // The register begins with its own activity.
    expect(seen.filter((naam) => String(naam).length >= 242)).toEqual(names);
  });
});

it('never confuses two persons, however their identities are written', async () => {
  const object = { objecttype: 'persoon', soortObjectId: 'A\nB', objectId: 'C' };
  const kept = await post(actie('1', { verwerkteObjecten: [object] }));
  const list = (soortObjectId: string, objectId: string) =>
    get(`/verwerkingsacties?${new URLSearchParams({ objecttype: 'persoon', soortObjectId, objectId })}`);
  expect(listIn(await list('A', 'B\nC'))).toMatchObject({ count: 0, results: [] });
  expect(listIn(await list('A\nB', 'C')).results.map(({ actieId }) => actieId)).toContain(actieIn(kept).actieId);
});

describe('all faults are reported at once', () => {
  it('of a body: those of the contract and those that a contract cannot express', async () => {
    const wishes = { actieNaam: 7, uitvoerder: '1', tijdstip: '9999-12-31T23:59:59-10:00', bewaartermijn: 'x' };
    const body = actie('1', wishes);
    for (const [method, path] of [
      ['POST', '/verwerkingsacties'],
      ['PUT', `/verwerkingsacties/${randomUUID()}`],
    ] as const) {
      const answer = await log.call(ALL, method, path, body);
      expect(answer.status).toBe(400);
      expect(faultNames(answer.json).toSorted()).toEqual(['actieNaam', 'bewaartermijn', 'tijdstip', 'uitvoerder']);
    }
  });

  it('of a query: times, their order and the cursor too', async () => {
    const query = ofPerson('1', { beginDatum: '2026-02-01', eindDatum: '2026-01-01', limit: '0', cursor: 'abc' });
    for (const list of ['verwerkingsacties', 'verwerkte-objecten']) {
      const answer = await get(`/${list}?${query}`);
      expect(faultNames(answer.json).toSorted()).toEqual(['cursor', 'eindDatum', 'limit']);
    }
    const odd = await get(
      `/verwerkingsacties?${ofPerson('1', { beginDatum: '2026-13-45', limit: '0' })}&cursor=a&cursor=b`,
    );
    expect(new Set(faultNames(odd.json))).toEqual(new Set(['beginDatum', 'cursor', 'limit']));
  });

  it('of an endless body that is refused', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const answer = await post(JSON.stringify(actie('1', { onbekend: 'HERE' })).replace('"HERE"', deep));
    expect(faultNames(answer.json)).toEqual(['onbekend']);
  });
});
