import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, type LogServer, listIn, newPerson, startLog } from './support.ts';

let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

const WRITE = ['register:write'];

function activiteit(wishes: Record<string, unknown> = {}) {
  return {
    naam: 'Toegang beoordelen',
    verantwoordelijkeOrganisatie: '00000099000000001000',
    doel: 'Vaststellen of een inwoner hulp kan krijgen',
    grondslag: 'Publieke taak',
    toelichtingGrondslag: 'Wet gemeentelijke schuldhulpverlening',
    categorie: 'Sociaal domein',
    verantwoordelijkeBestuursorgaan: 'College van B&W',
    gebaseerdOp: null,
    bewaartermijn: '5 jaar',
    herkomst: 'Betrokkene',
    afnemendeCategorieOntvangers: ['Schuldhulpverleners'],
    afnemendeInternationaleDerden: [],
    verwerktePersoonsgegevens: [{ rolBetrokkene: 'Aanvrager', naam: 'BSN' }],
    ...wishes,
  };
}

const at = (id: string) => `/verwerkingsactiviteiten/${id}`;
const put = (id: string, body: object, headers = {}) => log.call(WRITE, 'PUT', at(id), body, headers);
const tag = ({ headers }: { headers: Headers }): string => headers.get('etag') ?? '';
const get = (path: string) => log.call(['read:restricted'], 'GET', path);

describe('the register', () => {
  it('adds an activity, replaces it, returns it and removes it', async () => {
    const id = randomUUID();
    const made = await put(id, activiteit());
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ ...activiteit(), verwerkingsactiviteitId: id });
    expect(made.headers.get('location')).toBe(`${log.server.url}/verwerkingenlog/v1${at(id)}`);
    expect((await get(at(id))).json).toEqual(made.json);
    const { naam, verantwoordelijkeOrganisatie, doel, grondslag } = activiteit();
    const replaced = await put(id, { naam, verantwoordelijkeOrganisatie, doel, grondslag, url: 'skipped' });
    expect(replaced).toMatchObject({ status: 200, json: { herkomst: null, verwerktePersoonsgegevens: [] } });
    expect(replaced.headers.get('etag')).toMatch(/^"2-/);
    expect((await log.call(WRITE, 'DELETE', at(id))).status).toBe(204);
    expect((await get(at(id))).status).toBe(404);
    expect((await log.call(WRITE, 'DELETE', at(id))).status).toBe(404);
  });

  it('changes under If-Match only the named version', async () => {
    const id = randomUUID();
    expect((await put(id, activiteit(), { 'if-match': '*' })).status).toBe(412);
    const first = tag(await put(id, activiteit()));
    expect((await put(id, activiteit(), { 'if-match': '"2"' })).status).toBe(412);
    expect((await log.call(WRITE, 'DELETE', at(id), undefined, { 'if-match': '"2"' })).status).toBe(412);
    expect(tag(await get(at(id)))).toBe(first);
    const second = tag(await put(id, activiteit(), { 'if-match': first }));
    expect((await put(id, activiteit(), { 'if-match': first })).status).toBe(412);
    expect((await log.call(WRITE, 'DELETE', at(id), undefined, { 'if-match': second })).status).toBe(204);
  });

  it('distinguishes a re-added activity from the removed one', async () => {
    const id = randomUUID();
    const first = tag(await put(id, activiteit()));
    await log.call(WRITE, 'DELETE', at(id));
    expect((await put(id, activiteit({ doel: 'Iets anders' }))).status).toBe(201);
    expect((await put(id, activiteit(), { 'if-match': first })).status).toBe(412);
    expect((await log.call(WRITE, 'DELETE', at(id), undefined, { 'if-match': first })).status).toBe(412);
    expect((await log.call(WRITE, 'DELETE', at(id))).status).toBe(204);
  });

  it('is listed by name, in pages', async () => {
    const names = ['aaa', 'aab', 'aab', 'aac'];
    for (const naam of names) await put(randomUUID(), activiteit({ naam }));
    const base = `${log.server.url}/verwerkingenlog/v1`;
    const seen: unknown[] = [];
    let page = listIn(await get('/verwerkingsactiviteiten?limit=2'));
    for (; ; page = listIn(await get((page.next ?? '').slice(base.length)))) {
      seen.push(...page.results.map(({ naam }) => naam));
      if (page.next === null) break;
    }
    expect(seen.slice(0, 4)).toEqual(names);
    expect(seen).toHaveLength(page.count);
    const back = listIn(await get((page.previous ?? '').slice(base.length)));
    expect(back.results).toHaveLength(2);
    expect((await get('/verwerkingsactiviteiten?cursor=x')).status).toBe(400);
  });

  it('lists, counts and returns a confidential activity only with read:confidential', async () => {
    const naam = `zzz ${randomUUID()}`;
    const [open, secret] = [randomUUID(), randomUUID()];
    await put(open, activiteit({ naam }));
    const all = async (scope: string) => {
      const list = listIn(await log.call([scope], 'GET', '/verwerkingsactiviteiten?limit=1000'));
      expect(list.count).toBe(list.results.length);
      return list.results.filter((one) => one.naam === naam).map((one) => one.verwerkingsactiviteitId);
    };
    await put(secret, activiteit({ naam, vertrouwelijkheid: 'vertrouwelijk' }));
    for (const scope of ['read:restricted', 'read:normal']) {
      expect(await all(scope)).toEqual([open]);
      const [hidden, unknown] = [
        await log.call([scope], 'GET', at(secret)),
        await log.call([scope], 'GET', at(randomUUID())),
      ];
      expect([hidden.status, unknown.status]).toEqual([404, 404]);
      expect(Object(hidden.json).detail).toBe(Object(unknown.json).detail);
      const first = listIn(await log.call([scope], 'GET', '/verwerkingsactiviteiten?limit=1'));
      expect(first.count).toBe(
        (await listIn(await log.call([scope], 'GET', '/verwerkingsactiviteiten?limit=1000'))).results.length,
      );
    }
    expect((await all('read:confidential')).toSorted()).toEqual([open, secret].toSorted());
    expect((await log.call(['read:confidential'], 'GET', at(secret))).status).toBe(200);
  });

  it.each([['create:confidential'], ['read:confidential'], ['update:confidential']])(
    'is not written with %s',
    async (scope) => {
      expect((await log.call([scope], 'PUT', at(randomUUID()), activiteit())).status).toBe(403);
      expect((await log.call([scope], 'DELETE', at(randomUUID()))).status).toBe(403);
    },
  );

  it('reports every fault of a body', async () => {
    const answer = await put(randomUUID(), {
      naam: '',
      grondslag: 'omdat het kan',
      verwerktePersoonsgegevens: [{}],
      x: 1,
    });
    const names = Object(answer.json).invalidParams.map(({ name }: { name: string }) => name);
    expect(new Set(names)).toEqual(
      new Set(['naam', 'grondslag', 'verantwoordelijkeOrganisatie', 'doel', 'verwerktePersoonsgegevens.0.naam', 'x']),
    );
  });
});

it('counts actions of unknown activities', async () => {
  const known = randomUUID();
  await put(known, activiteit());
  for (const verwerkingsactiviteitId of [known, randomUUID(), null]) {
    const body = actie(newPerson(), { verwerkingsactiviteitId });
    expect((await log.call(['create:normal'], 'POST', '/verwerkingsacties', body)).status).toBe(201);
  }
  const metrics = await (await fetch(`${log.server.managementUrl}/metrics`)).text();
  expect(metrics).toMatch(/^koppelvlak_verwerkingenlog_unknown_activity_total 1$/m);
});
