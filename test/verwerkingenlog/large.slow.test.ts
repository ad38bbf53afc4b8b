import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stateFile } from '../proof/support.ts';
import { actie, actieIn, HEADERS, type LogServer, listIn, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
const PERSONS = 65_535;
/** Encrypting or decrypting this many identifiers at once takes far longer than this. */
const LONGEST_HELD_MS = 250;

let log: LogServer;

beforeAll(async () => {
  log = await startLog({ env: { 'server.bodyLimitBytes': '20000000' } });
});
afterAll(() => log?.stop());

const object = (i: number) => ({ objecttype: 'persoon', soortObjectId: 'BSN', objectId: String(i) });

it('stores, changes and deletes an action about 65 535 persons, and refuses one more', async () => {
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

it('finds a person who is in one action thousands of times just as fast', async () => {
  const person = '999990019';
  const many = actie(person, {
    tijdstip: new Date().toISOString(),
    verwerkteObjecten: Array.from({ length: 8000 }, () => ({
      objecttype: 'persoon',
      soortObjectId: 'BSN',
      objectId: person,
      betrokkenheid: 'betrokkene',
    })),
  });
  const { actieId } = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', many));
  const named = `/verwerkingsacties/${actieId}?${ofPerson(person)}`;
  expect(actieIn(await log.call(ALL, 'GET', named, undefined, HEADERS)).verwerkteObjecten).toHaveLength(8000);
  const path = `/verwerkingsacties?${ofPerson(person, { vertrouwelijkheid: 'normaal' })}`;
  const found = listIn(await log.call(ALL, 'GET', path, undefined, HEADERS)).results;
  expect(found.find((one) => one.actieId === actieId)?.verwerkteObjecten).toHaveLength(8000);
  // The entry of that reading has the person once.
  const entry = found.find(({ handelingNaam }) => handelingNaam === 'Verwerkingsactie opvragen');
  expect(entry?.verwerkteObjecten).toHaveLength(1);
});

describe('reading an action', () => {
  const keep = async (persons: number) => {
    const verwerkteObjecten = Array.from({ length: persons }, (_, i) => object(700_000_000 + i));
    return log.call(ALL, 'POST', '/verwerkingsacties', actie('1', { verwerkteObjecten }));
  };
  const entriesOf = async (i: number) => {
    const path = `/verwerkingsacties?${ofPerson(String(700_000_000 + i), { vertrouwelijkheid: 'normaal' })}`;
    return listIn(await log.call(ALL, 'GET', path, undefined, HEADERS)).results.filter(
      ({ handelingNaam }) => handelingNaam === 'Verwerkingsactie opvragen',
    );
  };

  it('about more than a thousand persons requires naming one, and its entry is about that person only', async () => {
    const kept = await keep(1001);
    const path = `/verwerkingsacties/${actieIn(kept).actieId}`;
    for (const scope of ['read:normal', 'read:confidential']) {
      const refused = await log.call([scope], 'GET', path, undefined, HEADERS);
      expect(refused.json).toMatchObject({
        status: 400,
        invalidParams: ['objecttype', 'soortObjectId', 'objectId'].map((name) => ({ name, code: 'required' })),
      });
    }
    expect((await log.call(['read:restricted'], 'GET', path, undefined, HEADERS)).status).toBe(404);
    const named = await log.call(['read:normal'], 'GET', `${path}?${ofPerson('700000007')}`, undefined, HEADERS);
    expect(named.headers.get('etag')).toBe(kept.headers.get('etag'));
    expect(actieIn(named).verwerkteObjecten).toMatchObject([{ objectId: '700000007' }]);
    const nobody = await log.call(['read:normal'], 'GET', `${path}?${ofPerson('1')}`, undefined, HEADERS);
    expect(nobody.status).toBe(404);
    expect(await entriesOf(7)).toHaveLength(1);
    expect(await entriesOf(8)).toHaveLength(0);
  });

  it('about a thousand returns them all, and its entry names each', async () => {
    const kept = actieIn(await keep(1000));
    const read = actieIn(
      await log.call(['read:normal'], 'GET', `/verwerkingsacties/${kept.actieId}`, undefined, HEADERS),
    );
    expect(read.verwerkteObjecten).toEqual(kept.verwerkteObjecten);
    for (const i of [0, 999]) expect(await entriesOf(i)).toHaveLength(1);
  });
});

it('stores, changes and deletes an action about 12 000 persons without blocking the event loop for long, sealed for a proof log too', async () => {
  const state = stateFile();
  onTestFinished(() => state.remove());
  const served = await startLog({ env: { 'server.bodyLimitBytes': '20000000', ...state.env } });
  onTestFinished(() => served.stop());
  const body = actie('1', { verwerkteObjecten: Array.from({ length: 12_000 }, (_, i) => object(800_000_000 + i)) });
  const text = JSON.stringify(body);
  const token = await served.tokens.bearer(ALL);
  /** The longest work in one turn of the event loop during a call, in CPU milliseconds, because the machine may be busy. */
  const held = async (
    method: string,
    path: string,
    sent?: string,
  ): Promise<{ readonly longest: number; answer: string }> => {
    let last = processorMs();
    let longest = 0;
    let isDone = false;
    const poll = (): void => {
      const now = processorMs();
      longest = Math.max(longest, now - last);
      last = now;
      if (!isDone) setTimeout(poll, 1);
    };
    poll();
    const response = await fetch(`${served.server.url}/verwerkingenlog/v1${path}`, {
      method,
      headers: { ...token, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const answer = await response.text();
    isDone = true;
    expect(response.ok, answer.slice(0, 500)).toBe(true);
    return { longest, answer };
  };
  const kept = await held('POST', '/verwerkingsacties', text);
  const { actieId } = JSON.parse(kept.answer);
  const put = await held('PUT', `/verwerkingsacties/${actieId}`, text);
  const ended = await held('DELETE', `/verwerkingsacties/${actieId}`);
  expect(Math.max(kept.longest, put.longest, ended.longest)).toBeLessThan(LONGEST_HELD_MS);
});

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
