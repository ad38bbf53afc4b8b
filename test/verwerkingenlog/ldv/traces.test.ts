/** The answer table of the intake, row by row in both media types. */
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MEDIA_TYPES } from '../../../src/verwerkingenlog/ldv/otlp.ts';
import { DPL } from '../../../src/verwerkingenlog/ldv/span.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { HEADERS, listIn, ofPerson } from '../support.ts';
import { encodeRequest } from './otlp-forms.ts';
import { ACTIVITY, ACTIVITY_URL, FORMS, type LdvServer, line, startLdv, subjectIn } from './support.ts';

let log: LdvServer;
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  log = await startLdv({ databaseUrl: database.url, env: { 'ldv.maxSpans': '100', 'ldv.bodyLimitBytes': '200000' } });
});
afterAll(async () => {
  await log.stop();
  await database.drop();
});

const find = async (person: string, scopes = ['read:normal']) =>
  listIn(
    await log.call(
      scopes,
      'GET',
      `/verwerkingsacties?${ofPerson(person, { beperkteSet: 'false', vertrouwelijkheid: 'normaal' })}`,
      undefined,
      HEADERS,
    ),
  ).results;

describe.each(FORMS)('in %s', (form) => {
  const type = MEDIA_TYPES[form];

  it('answers 200 without a message when everything is stored, and the log has it', async () => {
    const span = line();
    const sent = await log.send([span], { form });
    expect([sent.status, sent.type, sent.bytes.toString()]).toEqual([200, type, form === 'json' ? '{}' : '']);
    const [actie, ...others] = await find(subjectIn(span));
    expect(others).toEqual([]);
    expect(actie).toMatchObject({
      actieNaam: 'Zoeken persoon',
      verwerkingId: span.traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
      verwerkingsactiviteitId: ACTIVITY,
      verwerkingsactiviteitUrl: ACTIVITY_URL,
      vertrouwelijkheid: 'normaal',
      systeem: 'Balie',
      uitvoerder: null,
      gebruiker: null,
      tijdstip: '2026-03-31T23:33:20.123Z',
      verwerkteObjecten: [{ soortObjectId: 'BSN', objectId: subjectIn(span) }],
    });
  });

  it('accepts gzip', async () => {
    const span = line();
    expect((await log.send([span], { form, gzip: true })).bytes.toString()).toBe(form === 'json' ? '{}' : '');
    expect(await find(subjectIn(span))).toHaveLength(1);
  });

  it('reports refused lines, and stores the rest', async () => {
    const good = line();
    const bad = line({ attributes: { [DPL.activity]: undefined } });
    const { status, answer } = await log.send([bad, good], { form });
    expect(status).toBe(200);
    expect(answer).toEqual({
      rejectedSpans: 1,
      errorMessage: `1 regel is geweigerd; trace ${bad.traceId}, span ${bad.spanId}: dpl.core.processing_activity_id ontbreekt`,
    });
    expect(await find(subjectIn(good))).toHaveLength(1);
    expect(await find(subjectIn(bad))).toHaveLength(0);
  });

  it('answers 200 when everything is refused, with the first reasons', async () => {
    const bad = Array.from({ length: 30 }, () => line({ end: 1n }));
    const { status, answer } = await log.send(bad, { form });
    expect(status).toBe(200);
    expect(answer?.rejectedSpans).toBe(30);
    expect(answer?.errorMessage).toContain(`span ${bad[0]?.spanId}: end_time ligt voor start_time`);
    expect(answer?.errorMessage).not.toContain(String(bad[10]?.spanId));
  });

  it('answers 200 when there are no spans', async () => {
    const { status, answer } = await log.send([], { form });
    expect([status, answer]).toEqual([200, { rejectedSpans: 0, errorMessage: '' }]);
  });

  it.each([
    ['a body that is not a request', form === 'json' ? '[1]' : 'nonsense'],
    ['a truncated batch', encodeRequest([line(), line()], form).slice(0, 150)],
    ['invalid gzip', 'gzip'],
    ['truncated gzip', 'cut'],
  ])('answers 400 to %s with a status of its type, and stores nothing', async (_what, body) => {
    const cut = Uint8Array.from(gzipSync(encodeRequest([line(), line()], form)).subarray(0, 60));
    const isZipped = body === 'gzip' || body === 'cut';
    const sent = await log.send([], {
      form,
      body: body === 'cut' ? cut : typeof body === 'string' ? body : Uint8Array.from(body),
      headers: isZipped ? { 'content-encoding': 'gzip' } : {},
    });
    expect([sent.status, sent.type, sent.error?.code]).toEqual([400, type, 3]);
    expect(sent.error?.message).not.toBe('');
  });

  it('answers 401 and 403 with a status in its type', async () => {
    const none = await log.send([line()], { form, headers: { authorization: '' } });
    expect([none.status, none.type, none.error?.code]).toEqual([401, type, 16]);
    expect(none.headers.get('www-authenticate')).toMatch(/^Bearer/);
    const other = await log.send([line()], { form, scopes: ['read:confidential'] });
    expect([other.status, other.type, other.error?.code]).toEqual([403, type, 7]);
  });

  it('answers 413 to too many spans, and to too many bytes before or after decompression', async () => {
    const many = Array.from({ length: 101 }, () => line());
    const sent = await log.send(many, { form });
    expect([sent.status, sent.type, sent.error?.code]).toEqual([413, type, 3]);
    expect((await log.send(many.slice(0, 100), { form, gzip: true })).status).toBe(200);
    const long = [line({ name: 'x'.repeat(300_000) })];
    expect((await log.send(long, { form })).status).toBe(413);
    expect((await log.send(long, { form, gzip: true })).status).toBe(413);
  });

  it.each(['x-gzip', 'GZIP'])('accepts gzip under the name %s', async (name) => {
    const sent = await log.send([line()], { form, gzip: true, headers: { 'content-encoding': name } });
    expect([sent.status, sent.answer?.rejectedSpans]).toEqual([200, 0]);
  });

  it('answers 415 to another encoding', async () => {
    const sent = await log.send([line()], { form, headers: { 'content-encoding': 'zstd' } });
    expect([sent.status, sent.error?.code]).toEqual([415, 3]);
  });

  it('answers 503 with Retry-After while the database cannot store it', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    await client.query('alter table verwerkingenlog.ldv_keys rename to elders');
    try {
      const sent = await log.send([line()], { form });
      expect([sent.status, sent.type, sent.error?.code]).toEqual([503, type, 14]);
      expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await client.query('alter table verwerkingenlog.elders rename to ldv_keys');
      await client.end();
    }
    expect((await log.send([line()], { form })).status).toBe(200);
  });
});

it('answers 415 to another media type, in JSON', async () => {
  for (const other of ['text/plain', 'application/json; charset=latin1', 'application/protobuf']) {
    const sent = await log.send([line()], { headers: { 'content-type': other } });
    expect([sent.status, sent.type, sent.error?.code]).toEqual([415, MEDIA_TYPES.json, 3]);
  }
});

it.each([
  ['a byte order mark', '\ufeff'],
  ['nothing', ''],
])('accepts JSON that begins with %s, in UTF-8 by either name', async (_what, begin) => {
  const body = begin + Buffer.from(encodeRequest([line()], 'json')).toString();
  const sent = await log.send([], { form: 'json', body, headers: { 'content-type': 'application/json;charset=utf8' } });
  expect([sent.status, sent.answer?.rejectedSpans]).toEqual([200, 0]);
});

it('answers 404 and 405 in the same way', async () => {
  const { authorization } = await log.tokens.bearer(['create:normal']);
  const other = await fetch(log.traces, { headers: { authorization } });
  expect([other.status, other.headers.get('allow'), await other.json()]).toMatchObject([405, 'POST', { code: 12 }]);
  const unknown = await fetch(`${log.traces}/x`, { headers: { authorization } });
  expect([unknown.status, await unknown.json()]).toMatchObject([404, { code: 5 }]);
});

it('accepts JSON with ids in capitals, integers as texts or numbers, unknown members and nulls', async () => {
  const span = line({ attributes: { [DPL.subjectType]: undefined } });
  const text = Buffer.from(encodeRequest([span], 'json')).toString();
  const body = text
    .replace(span.traceId, span.traceId.toUpperCase())
    .replace(`"${span.end}"`, `${span.end + 10_000n}`)
    .replace(
      '"name":"Zoeken persoon"',
      '"name":"Zoeken persoon","kind":2,"events":null,"flags":257,"parentSpanId":null',
    );
  expect((await log.send([], { form: 'json', body })).answer).toEqual({ rejectedSpans: 0, errorMessage: '' });
});

it('answers 429 with Retry-After in the type of the request', async () => {
  const limited = await startLdv({ env: { 'verwerkingenlog.rateLimit': '2' } });
  for (const form of FORMS) {
    await limited.send([line()], { form, subject: form });
    await limited.send([line()], { form, subject: form });
    const sent = await limited.send([line()], { form, subject: form });
    expect([sent.status, sent.type, sent.error?.code]).toEqual([429, MEDIA_TYPES[form], 8]);
    expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await limited.stop();
});

it('publishes its contract and pages like the other mounts', async () => {
  const base = log.traces.replace(/\/traces$/, '');
  expect(await (await fetch(`${base}/openapi.json`)).json()).toMatchObject({ servers: [{ url: base }] });
  expect((await fetch(`${base}/docs`)).status).toBe(200);
});
