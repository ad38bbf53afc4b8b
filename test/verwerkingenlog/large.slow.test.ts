import { afterAll, beforeAll, expect, it } from 'vitest';
import { actie, actieIn, HEADERS, type LogServer, listIn, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
const PERSONS = 65_535;

let log: LogServer;

beforeAll(async () => {
  log = await startLog({ env: { BODY_LIMIT_BYTES: '20000000' } });
});
afterAll(() => log?.stop());

const object = (i: number) => ({ objecttype: 'persoon', soortObjectId: 'BSN', objectId: String(i) });

it('keeps, changes and ends an action about 65 535 persons, and refuses one more', { timeout: 120_000 }, async () => {
  const body = actie('1', { verwerkteObjecten: Array.from({ length: PERSONS }, (_, i) => object(i)) });
  const { actieId } = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body));
  const patch = `/verwerkingsacties?verwerkingId=${body.verwerkingId}`;
  expect((await log.call(ALL, 'PATCH', patch, { vertrouwelijkheid: 'vertrouwelijk' })).status).toBe(204);
  const find = async (i: number, vertrouwelijkheid: string) => {
    const path = `/verwerkingsacties?${ofPerson(String(i), { vertrouwelijkheid })}`;
    return listIn(await log.call(ALL, 'GET', path, undefined, HEADERS)).results.filter(
      (one) => one.actieId === actieId,
    );
  };
  for (const i of [0, PERSONS - 1]) {
    expect(await find(i, 'normaal')).toEqual([]);
    expect(await find(i, 'vertrouwelijk')).toMatchObject([{ verwerkteObjecten: [{ objectId: String(i) }] }]);
  }
  const more = { ...body, verwerkteObjecten: [object(PERSONS)] };
  const put = await log.call(ALL, 'PUT', `/verwerkingsacties/${actieId}`, more);
  expect(put.json).toMatchObject({
    status: 400,
    code: 'te-veel-objecten',
    invalidParams: [{ name: 'verwerkteObjecten' }],
  });
  expect((await log.call(ALL, 'DELETE', `/verwerkingsacties/${actieId}`)).status).toBe(204);
  expect(await find(0, 'vertrouwelijk')).toEqual([]);
  const tooMany = { ...body, verwerkteObjecten: Array.from({ length: PERSONS + 1 }, (_, i) => object(i)) };
  expect((await log.call(ALL, 'POST', '/verwerkingsacties', tooMany)).json).toMatchObject({
    status: 400,
    invalidParams: [{ name: 'verwerkteObjecten', code: 'maxItems' }],
  });
});

it('finds a person who stands in one action thousands of times in no more time', async () => {
  const person = '999990019';
  const many = actie(person, {
    tijdstip: '2999-01-01T00:00:00Z',
    verwerkteObjecten: Array.from({ length: 8000 }, () => ({
      objecttype: 'persoon',
      soortObjectId: 'BSN',
      objectId: person,
      betrokkenheid: 'betrokkene',
    })),
  });
  const { actieId } = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', many));
  const path = `/verwerkingsacties?${ofPerson(person, { vertrouwelijkheid: 'normaal' })}`;
  const found = listIn(await log.call(ALL, 'GET', path, undefined, HEADERS)).results;
  expect(found.find((one) => one.actieId === actieId)?.verwerkteObjecten).toHaveLength(8000);
});
