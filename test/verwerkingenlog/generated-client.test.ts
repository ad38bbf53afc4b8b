/** Clients generated from the contract omit members that are `null` or have a default. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/api.ts';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

const ALL = ['create:confidential', 'read:confidential', 'update:confidential'];
let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

const missingIn = ({ json }: Answer): unknown[] =>
  Object(json).invalidParams.map(({ name, code }: { name: string; code: string }) =>
    code === 'required' ? name : code,
  );

describe('PUT', () => {
  const EMPTY = [
    'handelingNaam',
    'verwerkingsactiviteitUrl',
    'gebruiker',
    'soortAfnemerId',
    'afnemerId',
    'bewaartermijn',
  ];
  const withEmpty = (more: Record<string, unknown> = {}) =>
    actie(newPerson(), { ...Object.fromEntries(EMPTY.map((name) => [name, null])), ...more });
  const withoutNulls = (body: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));

  it('accepts what was read, with the nulls omitted', async () => {
    const posted = await log.call(ALL, 'POST', '/verwerkingsacties', withEmpty());
    const path = `/verwerkingsacties/${actieIn(posted).actieId}`;
    const whole = actieIn(await log.call(ALL, 'GET', path, undefined, HEADERS));
    const sent = { ...withoutNulls(whole), systeem: 'Balie 3' };
    expect(Object.keys(sent)).not.toContain('gebruiker');
    const put = await log.call(['update:normal'], 'PUT', path, sent);
    expect(put.status).toBe(200);
    expect(put.json).toMatchObject({ systeem: 'Balie 3', gebruiker: null, actieNaam: 'Zoeken persoon' });
  });

  it('lists at once all fields that it would lose, and changes nothing', async () => {
    const body = withEmpty();
    const { actieId } = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body));
    const path = `/verwerkingsacties/${actieId}`;
    const full = Object.keys(body).filter((name) => !EMPTY.includes(name));
    const nothing = await log.call(ALL, 'PUT', path, {});
    expect(nothing.status).toBe(400);
    expect(missingIn(nothing).toSorted()).toEqual(full.toSorted());
    const { systeem: _, verwerkingId: __, ...part } = withoutNulls(body);
    const lost = await log.call(ALL, 'PUT', path, part);
    expect([lost.status, missingIn(lost)]).toEqual([400, ['verwerkingId', 'systeem']]);
    expect((await log.call(ALL, 'GET', path, undefined, HEADERS)).headers.get('etag')).toBe('"1"');
  });

  it('reveals nothing about an action that the caller may not change', async () => {
    const body = withEmpty({ vertrouwelijkheid: 'vertrouwelijk' });
    const { actieId } = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body));
    expect((await log.call(['update:normal'], 'PUT', `/verwerkingsacties/${actieId}`, {})).status).toBe(403);
  });
});

describe('GET of a list without `vertrouwelijkheid`', () => {
  it.each(['read:restricted', 'read:normal', 'read:confidential'])(
    'finds with %s actions that are `normaal`',
    async (scope) => {
      const person = newPerson();
      for (const vertrouwelijkheid of ['normaal', 'vertrouwelijk'])
        await log.call(ALL, 'POST', '/verwerkingsacties', actie(person, { vertrouwelijkheid }));
      const answer = await log.call([scope], 'GET', `/verwerkingsacties?${ofPerson(person)}`, undefined, HEADERS);
      expect(answer.status).toBe(200);
      expect(listIn(answer).results.map((one) => one.vertrouwelijkheid)).toEqual(['normaal']);
    },
  );
});
