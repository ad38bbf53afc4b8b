import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

describe('storing an action', () => {
  it('returns the record, its address and its version', async () => {
    const body = actie(newPerson());
    const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', body);
    expect(answer.status).toBe(201);
    const kept = actieIn(answer);
    expect(kept).toMatchObject({ ...body, verwerkteObjecten: [{ ...body.verwerkteObjecten[0] }] });
    expect(answer.headers.get('location')).toBe(kept.url);
    expect(kept.url).toBe(`${log.server.url}/verwerkingenlog/v1/verwerkingsacties/${kept.actieId}`);
    expect(answer.headers.get('etag')).toBe('"1"');
    expect(kept.actieId[14]).toBe('7');
  });

  it('returns the same record when it is read', async () => {
    const kept = await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()));
    const { actieId } = actieIn(kept);
    const read = await log.call(
      ['read:normal'],
      'GET',
      `/verwerkingsacties/${actieId}?beperkteSet=false`,
      undefined,
      HEADERS,
    );
    expect(read.status).toBe(200);
    expect(read.json).toEqual(kept.json);
    expect(read.headers.get('etag')).toBe('"1"');
  });

  it('returns omitted fields as null', async () => {
    const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', {
      vertrouwelijkheid: 'NORMAAL',
      tijdstip: '2026-01-15T14:35:42+01:00',
      verwerkteObjecten: [{ objecttype: 'Persoon', soortObjectId: 'BSN', objectId: newPerson() }],
    });
    expect(answer.json).toMatchObject({
      actieNaam: null,
      verwerkingId: null,
      bewaartermijn: null,
      systeem: null,
      vertrouwelijkheid: 'normaal',
      tijdstip: '2026-01-15T14:35:42+01:00',
      verwerkteObjecten: [{ objecttype: 'persoon', betrokkenheid: null, verwerkteSoortenGegevens: null }],
    });
  });

  it('ignores read-only members', async () => {
    const body = actie(newPerson(), { url: 5, actieId: 'mine', tijdstipRegistratie: null });
    expect((await log.call(['create:normal'], 'POST', '/verwerkingsacties', body)).status).toBe(201);
  });

  it('reports every fault of a body at once', async () => {
    const body = {
      ...actie(newPerson()),
      bewaartermijn: 'ten years',
      verwerkingId: 'x',
      uitvoerder: '123',
      tijdstip: 'yesterday',
      onbekend: 1,
      verwerkteObjecten: [{ objecttype: 'huis', soortObjectId: 'BSN' }],
    };
    const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'invalid-request' });
    const names = Object(answer.json).invalidParams.map(({ name }: { name: string }) => name);
    expect(new Set(names)).toEqual(
      new Set([
        'bewaartermijn',
        'verwerkingId',
        'uitvoerder',
        'tijdstip',
        'onbekend',
        'verwerkteObjecten.0.objecttype',
        'verwerkteObjecten.0.objectId',
      ]),
    );
  });

  it('refuses a time outside the years of RFC 3339', async () => {
    const body = actie(newPerson(), { tijdstip: '9999-12-31T23:59:59-10:00' });
    const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', body);
    expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ name: 'tijdstip', code: 'range' }] });
  });
});

it('refuses half a surrogate pair, which JSON can express and the database cannot read', async () => {
  const body = actie(newPerson(), { actieNaam: 'x\ud800', verwerkteObjecten: [] });
  const object = { objecttype: 'persoon', soortObjectId: 'BSN', objectId: '1', betrokkenheid: '\udc00' };
  const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', {
    ...body,
    verwerkteObjecten: [object],
  });
  expect(answer.json).toMatchObject({
    status: 400,
    invalidParams: [
      { name: 'actieNaam', code: 'unicode' },
      { name: 'verwerkteObjecten.0.betrokkenheid', code: 'unicode' },
    ],
  });
  const pairs = actie(newPerson(), { actieNaam: 'naam 😀 "aanhaling" \\ en {accolade}, \u0001' });
  const kept = await log.call(['create:normal'], 'POST', '/verwerkingsacties', pairs);
  const read = await log.call(
    ['read:normal'],
    'GET',
    `/verwerkingsacties/${actieIn(kept).actieId}`,
    undefined,
    HEADERS,
  );
  expect(actieIn(read).actieNaam).toBe(pairs.actieNaam);
});

describe('the list of a person', () => {
  it('has the newest first, and only the matching objects', async () => {
    const [person, other] = [newPerson(), newPerson()];
    const post = (tijdstip: string) => {
      const body = actie(person, { tijdstip });
      return log.call(['create:normal'], 'POST', '/verwerkingsacties', {
        ...body,
        verwerkteObjecten: [{ ...body.verwerkteObjecten[0], objectId: other }, ...body.verwerkteObjecten],
      });
    };
    for (const day of ['02', '04', '03']) expect((await post(`2026-01-${day}T12:00:00Z`)).status).toBe(201);
    const answer = await log.call(
      ['read:normal'],
      'GET',
      `/verwerkingsacties?${ofPerson(person, { vertrouwelijkheid: 'normaal' })}`,
      undefined,
      HEADERS,
    );
    const { count, next, previous, results } = listIn(answer);
    expect({ count, next, previous }).toEqual({ count: 3, next: null, previous: null });
    expect(results.map(({ tijdstip }) => tijdstip)).toEqual([
      '2026-01-04T12:00:00Z',
      '2026-01-03T12:00:00Z',
      '2026-01-02T12:00:00Z',
    ]);
    for (const { verwerkteObjecten } of results) expect(verwerkteObjecten).toMatchObject([{ objectId: person }]);
    for (const result of results) expect(result).not.toHaveProperty('systeem');
  });

  it('is deleted by clients that send a content type without a body', async () => {
    const { actieId } = actieIn(await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson())));
    const headers = { 'content-type': 'application/json' };
    expect(await log.call(['delete:normal'], 'DELETE', `/verwerkingsacties/${actieId}`, '', headers)).toMatchObject({
      status: 204,
    });
  });

  it('omits a deleted action, which is then unknown', async () => {
    const person = newPerson();
    const { actieId } = actieIn(await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(person)));
    const deleted = await log.call(['delete:normal'], 'DELETE', `/verwerkingsacties/${actieId}`);
    expect(deleted.status).toBe(204);
    const list = await log.call(
      ['read:normal'],
      'GET',
      `/verwerkingsacties?${ofPerson(person, { vertrouwelijkheid: 'normaal' })}`,
      undefined,
      HEADERS,
    );
    expect(listIn(list)).toMatchObject({ count: 0, results: [] });
    const read = await log.call(['read:normal'], 'GET', `/verwerkingsacties/${actieId}`, undefined, HEADERS);
    expect(read).toMatchObject({ status: 404, json: { code: 'not-found' } });
    const again = await log.call(['delete:normal'], 'DELETE', `/verwerkingsacties/${actieId}`);
    expect(again.json).toMatchObject({
      status: 400,
      code: 'onbekende-verwerkingsactie',
      invalidParams: [{ name: 'actieId' }],
    });
  });
});
