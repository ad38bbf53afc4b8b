import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { spanIdOf, uuidOf } from '../../../src/verwerkingenlog/ldv/mapping.ts';
import { type Answer, type Api, createApi } from '../../support/api.ts';
import { actie, actieIn, HEADERS, newPerson } from '../support.ts';
import { ACTIVITY_URL, type LdvServer, line, START, startLdv, subjectIn } from './support.ts';

const PATH = '/data-processing-operations';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;

let ldv: LdvServer;
let api: Api;
let client: pg.Client;
beforeAll(async () => {
  ldv = await startLdv({
    env: {
      LDV_READ: 'true',
      PUBLIC_BASE_URL: 'https://dit-logboek.example',
      ORGANISATION_NAME: 'Gemeente Test',
      LDV_KEEP_ATTRIBUTES: 'app.*',
    },
  });
  api = createApi(`${ldv.server.url}/ldv/v1`, 'ldv-lezen.yaml');
  client = new pg.Client(ldv.server.databaseUrl);
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await ldv?.stop();
});

type Item = Record<string, unknown>;

async function ask(scope: string, body: unknown, path = PATH, headers: Record<string, string> = {}): Promise<Answer> {
  return api.call('POST', path, {
    headers: { ...HEADERS, ...headers, ...(await ldv.tokens.bearer([scope])) },
    body,
  });
}

function itemsIn({ status, json, text }: Answer): readonly Item[] {
  if (status === 200 && isRecord(json) && Array.isArray(json.dataProcessingOperations))
    return json.dataProcessingOperations;
  throw new Error(`no lines: ${status} ${text}`);
}

const read = async (scope: string, body: unknown): Promise<readonly Item[]> => itemsIn(await ask(scope, body));
const READING = 'Raadplegen verwerkingenlog';
/** Without the entries about the readings of this test. */
const namesOf = (items: readonly Item[]): unknown[] => items.map(({ name }) => name).filter((name) => name !== READING);

async function post(
  wishes: Record<string, unknown> = {},
  person = newPerson(),
): Promise<{ id: string; person: string }> {
  const answer = await ldv.call(['create:confidential'], 'POST', '/verwerkingsacties', actie(person, wishes));
  return { id: actieIn(answer).actieId, person };
}

async function entries(): Promise<Record<string, unknown>[]> {
  const { rows } = await client.query<Record<string, unknown>>(
    `select actie_id, handeling_naam, vertrouwelijkheid, trace_id, json_array_length(objecten) as persons
     from verwerkingenlog.versies where actie_naam = 'Raadplegen verwerkingenlog' order by tijdstip_registratie, actie_id`,
  );
  return rows;
}

describe('a line that came through LDV', () => {
  it('is given back whole: ids, nanoseconds, status, attributes in camelCase', async () => {
    const span = line({
      parentSpanId: '00f067aa0ba902b7',
      status: 'Error',
      attributes: { 'dpl.read.next_logbook_id': 'https://elders.example', 'app.zaak': 'Z1', 'dpl.__proto__.a': 'b' },
    });
    await ldv.send([span]);
    const answer = await ask('read:normal', { dataSubjectId: subjectIn(span), dataSubjectIdType: 'BSN' });
    expect(answer.headers.get('api-version')).toBe('0.9.0');
    expect(answer.json).toMatchObject({
      metadata: { logbookId: 'https://dit-logboek.example', organizationName: 'Gemeente Test' },
    });
    expect(answer.json).not.toHaveProperty('truncated');
    expect(itemsIn(answer)).toEqual([
      {
        traceId: uuidOf(span.traceId),
        spanId: span.spanId,
        parentSpanId: '00f067aa0ba902b7',
        status: 'Error',
        name: 'Zoeken persoon',
        startTime: new Date(Number(START / 1_000_000n)).toISOString().replace('Z', '456789Z'),
        endTime: new Date(Number(START / 1_000_000n) + 1).toISOString().replace('Z', '456789Z'),
        resource: { attributes: { 'service.name': 'Balie' } },
        attributes: {
          dpl: expect.objectContaining({
            core: { processingActivityId: ACTIVITY_URL, dataSubjectId: subjectIn(span), dataSubjectIdType: 'BSN' },
            read: { nextLogbookId: 'https://elders.example' },
          }),
          'app.zaak': 'Z1',
        },
      },
    ]);
  });

  it.each([
    ['flat', (id: string) => ({ dataSubjectId: id, dataSubjectIdType: 'bsn' })],
    ['without a kind', (id: string) => ({ dataSubjectId: id })],
    ['in a filter', (id: string) => ({ filter: { dataSubjectId: id, dataSubjectIdType: 'BSN' } })],
    [
      'nested, in snake_case',
      (id: string) => ({ attributes: { dpl: { core: { data_subject_id: id, data_subject_id_type: 'BSN' } } } }),
    ],
    ['nested, in camelCase', (id: string) => ({ filter: { attributes: { dpl: { core: { dataSubjectId: id } } } } })],
    ['as one name', (id: string) => ({ attributes: { 'dpl.core.data_subject_id': id } })],
    ['both ways, the same', (id: string) => ({ dataSubjectId: id, attributes: { 'dpl.core.data_subject_id': id } })],
  ])('is found by its person: %s', async (_how, selectors) => {
    const span = line();
    await ldv.send([span, line()]);
    expect(await read('read:normal', selectors(subjectIn(span)))).toMatchObject([{ spanId: span.spanId }]);
  });

  it('of a person without a kind is found without a kind', async () => {
    const span = line({
      attributes: { 'dpl.core.data_subject_id': 'pseudoniem-1', 'dpl.core.data_subject_id_type': undefined },
    });
    await ldv.send([span]);
    expect(await read('read:normal', { dataSubjectId: 'pseudoniem-1' })).toMatchObject([{ spanId: span.spanId }]);
  });
});

describe('selectors', () => {
  it('narrow together: trace, activity, person, time', async () => {
    const person = newPerson();
    const of = (wishes: Parameters<typeof line>[0]) =>
      line({ ...wishes, attributes: { 'dpl.core.data_subject_id': person, ...wishes?.attributes } });
    const other = 'https://register.example/anders';
    const early = of({ name: 'vroeg', start: START - 10n ** 15n });
    const elsewhere = of({ name: 'anders', attributes: { 'dpl.core.processing_activity_id': other } });
    await ldv.send([of({ name: 'gewoon' }), early, elsewhere]);
    const ask = (more: object) => read('read:normal', { dataSubjectId: person, ...more }).then(namesOf);
    expect((await ask({})).toSorted()).toEqual(['anders', 'gewoon', 'vroeg']);
    expect(await ask({ traceId: early.traceId })).toEqual(['vroeg']);
    expect(await ask({ traceId: uuidOf(early.traceId).toUpperCase() })).toEqual(['vroeg']);
    expect(await ask({ processingActivityId: other })).toEqual(['anders']);
    expect(await ask({ processingActivityId: other, traceId: early.traceId })).toEqual([]);
    const at = new Date(Number(START / 1_000_000n) - 1000).toISOString();
    expect((await ask({ startTime: at })).toSorted()).toEqual(['anders', 'gewoon']);
    expect(await ask({ endTime: at })).toEqual(['vroeg']);
    expect(await ask({ startTime: at.replace('Z', '+00:00'), endTime: at })).toEqual([]);
  });

  it('find by trace or activity alone with read:confidential', async () => {
    const verwerkingId = randomUUID();
    const [a, b] = [await post({ verwerkingId }), await post({ verwerkingId, vertrouwelijkheid: 'vertrouwelijk' })];
    const spans = (await read('read:confidential', { traceId: verwerkingId })).map(({ spanId }) => spanId);
    expect(spans.toSorted()).toEqual([spanIdOf(a.id, 1), spanIdOf(b.id, 1)].toSorted());
    const url = `https://register.example/${randomUUID()}`;
    await post({ actieNaam: 'bij url', verwerkingsactiviteitUrl: url });
    expect(namesOf(await read('read:confidential', { processingActivityId: url }))).toEqual(['bij url']);
    const id = randomUUID();
    await post({ actieNaam: 'bij id', verwerkingsactiviteitId: id, verwerkingsactiviteitUrl: null });
    expect(namesOf(await read('read:confidential', { processingActivityId: id }))).toEqual(['bij id']);
  });

  it('find an entry of the service itself by the trace of its caller', async () => {
    const span = line();
    await ldv.send([span]);
    const query = { dataSubjectId: subjectIn(span) };
    expect((await ask('read:normal', query, PATH, { traceparent })).status).toBe(200);
    expect(await read('read:confidential', { traceId: TRACE })).toMatchObject([
      { name: READING, traceId: uuidOf(TRACE), parentSpanId: '00f067aa0ba902b7' },
    ]);
  });

  it('find nothing of what was deleted, and what was changed as it is now', async () => {
    const { id, person } = await post({ actieNaam: 'eerst' });
    const changed = actie(person, { actieNaam: 'daarna' });
    await ldv.call(['update:normal'], 'PUT', `/verwerkingsacties/${id}`, changed);
    expect(namesOf(await read('read:normal', { dataSubjectId: person }))).toEqual(['daarna']);
    await ldv.call(['delete:normal'], 'DELETE', `/verwerkingsacties/${id}`);
    expect(namesOf(await read('read:normal', { dataSubjectId: person }))).toEqual([]);
  });
});

describe('an action about several persons', () => {
  const objects = (persons: readonly string[]) =>
    persons.map((objectId) => ({ objecttype: 'persoon', soortObjectId: 'BSN', objectId }));

  it('shows of a person only his own line, below that of the action', async () => {
    const persons = [newPerson(), newPerson()];
    const { id } = await post({ verwerkteObjecten: objects(persons) });
    const found = await read('read:normal', { dataSubjectId: persons[1] });
    expect(found).toMatchObject([{ spanId: spanIdOf(id, 2), parentSpanId: spanIdOf(id) }]);
    expect(JSON.stringify(found)).not.toContain(persons[0]);
  });

  it('shows them all by its trace', async () => {
    const verwerkingId = randomUUID();
    await post({ verwerkingId, verwerkteObjecten: objects([newPerson(), newPerson()]) });
    expect(await read('read:confidential', { traceId: verwerkingId })).toHaveLength(3);
  });
});

describe('who may see what', () => {
  it('is as in area B', async () => {
    const person = newPerson();
    const lifted = randomUUID();
    await post({ actieNaam: 'gewoon' }, person);
    await post({ actieNaam: 'geheim', vertrouwelijkheid: 'vertrouwelijk' }, person);
    await post({ actieNaam: 'opgeheven', vertrouwelijkheid: 'vertrouwelijk', verwerkingId: lifted }, person);
    const patch = `/verwerkingsacties?verwerkingId=${lifted}`;
    await ldv.call(['update:confidential'], 'PATCH', patch, { vertrouwelijkheid: 'opgeheven' });
    const query = { dataSubjectId: person, dataSubjectIdType: 'BSN' };
    const seen = async (scope: string) =>
      (await read(scope, query))
        .map(({ name, resource }) => [name, JSON.stringify(resource)])
        .filter(([name]) => name !== READING)
        .toSorted();
    const [limited, full] = ['{"attributes":{}}', '{"attributes":{"service.name":"Balie 2"}}'];
    expect(await seen('read:restricted')).toEqual([
      ['gewoon', limited],
      ['opgeheven', limited],
    ]);
    expect(await seen('read:normal')).toEqual([
      ['gewoon', full],
      ['opgeheven', limited],
    ]);
    expect(await seen('read:confidential')).toEqual([
      ['geheim', full],
      ['gewoon', full],
      ['opgeheven', full],
    ]);
    expect(JSON.stringify(await read('read:restricted', query))).not.toContain('koppelvlak.verwerkingsactie');
  });

  it.each(['read:restricted', 'read:normal'])('%s must name a person', async (scope) => {
    for (const body of [{ traceId: TRACE }, { processingActivityId: ACTIVITY_URL }]) {
      const answer = await ask(scope, body);
      expect(answer).toMatchObject({ status: 403, json: { code: 'forbidden' } });
      expect(answer.headers.get('www-authenticate')).toContain('read:confidential');
    }
  });

  it('read:restricted must name the kind too', async () => {
    const answer = await ask('read:restricted', { dataSubjectId: newPerson() });
    expect(answer).toMatchObject({
      status: 400,
      json: { invalidParams: [{ name: 'dataSubjectIdType', code: 'required' }] },
    });
  });

  it('needs a token with a scope to read', async () => {
    const none = await api.call('POST', PATH, { body: { traceId: TRACE } });
    expect(none).toMatchObject({ status: 401, json: { code: 'unauthorized' } });
    expect((await ask('create:normal', { traceId: TRACE })).status).toBe(403);
  });
});

describe('the reading itself', () => {
  it('is logged, about the person that was asked for', async () => {
    const person = newPerson();
    await read('read:normal', { dataSubjectId: person, dataSubjectIdType: 'BSN' });
    expect((await entries()).at(-1)).toMatchObject({
      handeling_naam: 'Dataverwerkingen opvragen (LDV)',
      vertrouwelijkheid: 'normaal',
      persons: 1,
    });
    expect((await read('read:normal', { dataSubjectId: person })).map(({ name }) => name)).toContain(READING);
  });

  it('is logged about everybody whose lines were read, and is confidential when one of them is', async () => {
    const verwerkingId = randomUUID();
    await post({ verwerkingId });
    await post({ verwerkingId, vertrouwelijkheid: 'vertrouwelijk' });
    await read('read:confidential', { traceId: verwerkingId });
    expect((await entries()).at(-1)).toMatchObject({ vertrouwelijkheid: 'vertrouwelijk', persons: 2 });
  });

  it('is logged for each question of a batch', async () => {
    const before = (await entries()).length;
    const requests = [{ dataSubjectId: newPerson() }, { dataSubjectId: newPerson() }];
    expect((await ask('read:normal', { requests }, `${PATH}/_batch`)).status).toBe(200);
    expect(await entries()).toHaveLength(before + 2);
  });
});

describe('a batch', () => {
  it('is answered in the same order', async () => {
    const spans = [line({ name: 'een' }), line({ name: 'twee' })];
    await ldv.send(spans);
    const [een, twee] = spans.map((span) => ({ dataSubjectId: subjectIn(span) }));
    const body = { context: { any: 'thing' }, requests: [twee, { dataSubjectId: newPerson() }, { filter: een }] };
    const { status, json } = await ask('read:normal', body, `${PATH}/_batch`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      metadata: { logbookId: 'https://dit-logboek.example' },
      results: [{ items: [{ name: 'twee' }] }, { items: [] }, { items: [{ name: 'een' }] }],
    });
  });

  it('has at most 100 questions', async () => {
    const requests = Array.from({ length: 101 }, () => ({ dataSubjectId: newPerson() }));
    expect((await ask('read:normal', { requests }, `${PATH}/_batch`)).status).toBe(400);
    expect((await ask('read:normal', { requests: requests.slice(1) }, `${PATH}/_batch`)).status).toBe(200);
    expect((await ask('read:normal', { requests: [] }, `${PATH}/_batch`)).status).toBe(400);
  });

  it('with a wrong question reads nothing, and names all faults', async () => {
    const before = (await entries()).length;
    const requests = [{ dataSubjectId: newPerson() }, {}, { dataSubjectIdType: 'BSN', traceId: TRACE }];
    const { status, json } = await ask('read:normal', { requests }, `${PATH}/_batch`);
    expect(status).toBe(400);
    expect(json).toMatchObject({
      invalidParams: [{ name: 'requests.1.traceId' }, { name: 'requests.2.dataSubjectId' }],
    });
    const mixed = [{ dataSubjectId: newPerson() }, { traceId: TRACE }];
    expect((await ask('read:normal', { requests: mixed }, `${PATH}/_batch`)).status).toBe(403);
    expect(await entries()).toHaveLength(before);
  });
});

describe('a question', () => {
  it.each([
    ['nothing', {}, 'traceId'],
    ['only a time', { startTime: '2026-01-01T00:00:00Z' }, 'traceId'],
    ['an invalid trace', { traceId: 'x' }, 'traceId'],
    ['an invalid time', { traceId: TRACE, startTime: 'gisteren' }, 'startTime'],
    [
      'an end before the start',
      { traceId: TRACE, startTime: '2026-02-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' },
      'endTime',
    ],
    ['a kind without a person', { traceId: TRACE, dataSubjectIdType: 'BSN' }, 'dataSubjectId'],
    ['two persons', { dataSubjectId: '1', attributes: { 'dpl.core.data_subject_id': '2' } }, 'dataSubjectId'],
    ['what is not known', { traceId: TRACE, limit: 5 }, ''],
  ])('with %s gets 400', async (_what, body, name) => {
    const { status, json } = await ask('read:confidential', body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid-request', instance: expect.stringMatching(/^urn:uuid:/) });
    if (name !== '') expect(json).toMatchObject({ invalidParams: [{ name }] });
  });

  it('gets other errors in the shape of area B', async () => {
    expect(await ask('read:normal', '{')).toMatchObject({ status: 400, json: { code: 'invalid-request' } });
    const text = await api.call('POST', PATH, {
      headers: { ...(await ldv.tokens.bearer(['read:normal'])), 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(text).toMatchObject({ status: 415, json: { code: expect.any(String) } });
  });

  it('with more than a thousand lines gets the first thousand, and a notice that there are more', async () => {
    const person = newPerson();
    const many = Array.from({ length: 1001 }, () => line({ attributes: { 'dpl.core.data_subject_id': person } }));
    await ldv.send(many);
    const answer = await ask('read:normal', { dataSubjectId: person, dataSubjectIdType: 'BSN' });
    expect(answer.json).toMatchObject({ truncated: true });
    expect(itemsIn(answer)).toHaveLength(1000);
    const one = await ask('read:normal', { dataSubjectId: person, traceId: many[0]?.traceId });
    expect(one.json).not.toHaveProperty('truncated');
    expect(itemsIn(one)).toHaveLength(1);
  });
});

it('is not there unless LDV_READ is on, and is documented as experimental when it is', async () => {
  const docs = await fetch(`${ldv.server.url}/ldv/v1${PATH}/openapi.json`);
  expect(docs.status).toBe(200);
  expect(await docs.text()).toMatch(/[Ee]xperimenteel.*"version":"0.9.0"|"version":"0.9.0".*[Ee]xperimenteel/);
  const without = await startLdv();
  try {
    const headers = { ...(await without.tokens.bearer(['read:confidential'])), 'content-type': 'application/json' };
    const body = JSON.stringify({ traceId: TRACE });
    const answer = await fetch(`${without.server.url}/ldv/v1${PATH}`, { method: 'POST', headers, body });
    expect(answer.status).toBe(404);
  } finally {
    await without.stop();
  }
});
