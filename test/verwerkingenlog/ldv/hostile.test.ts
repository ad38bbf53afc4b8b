/** Input from an attacker or a broken client, and what a stolen database reveals. */
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIdentityKeys } from '../../../src/verwerkingenlog/domain/encryption.ts';
import { type AttributeValue, DPL } from '../../../src/verwerkingenlog/ldv/span.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { HOSTILE_SHAPES, hostileJson } from '../../support/hostile-json.ts';
import { koppelvlak } from '../cli.ts';
import { KEY } from '../support.ts';
import { encodeRequest } from './otlp-forms.ts';
import { FORMS, type LdvServer, line, newId, startLdv } from './support.ts';

let log: LdvServer;
let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  log = await startLdv({ databaseUrl: database.url, env: { LDV_KEEP_ATTRIBUTES: 'app.*' } });
});
afterAll(async () => {
  await log.stop();
  await client.end();
  await database.drop();
});

async function dump(): Promise<string> {
  const { rows } = await client.query(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'verwerkingenlog' and c.relkind = 'r'`,
  );
  const parts: string[] = [];
  for (const { name } of rows) {
    const { rows: lines } = await client.query(`select t::text as line from ${name} t`);
    parts.push(...lines.map(({ line: text }) => text));
  }
  return parts.join('\n');
}

it.each([
  ...['123456782', '123 456 782', '123.456.782', '1234.56.782', '123-456-782', '12345 6782', '12 34 56 78 2'],
  ...['123\u00a0456\u2009782', '123\u200b456\u200b782', '１２３４５６７８２', '١٢٣٤٥٦٧٨٢', '१२३.४५६.७८२', '𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟐'],
])('masks a citizen service number in a name, however it is written: %s', async (written) => {
  expect(await storedName(`dossier 12 ${written}, 7 stuks`)).toBe('dossier 12 *********, 7 stuks');
});

it("masks another identifier of the line's person, however it is written", async () => {
  expect(await storedName('van 123.456.789', { [DPL.subject]: '123456789' })).toBe('van *********');
});

it.each([
  ...['123 456 789', '123456789', '1234567820', '00000000000123456782', '١٢٣٤٥٦٧٨٩'],
  ...['2026-03-31 09:15', '111.222.33.3', '110.121.132.9', '+31 20 123 4568', '1.2.345.678', '123  456  782'],
  '12345678-2000-4000-8000-123456782000',
])('leaves other numbers in a name alone: %s', async (written) => {
  expect(await storedName(`bij ${written}.`)).toBe(`bij ${written}.`);
});

/** The name that the log stores for a line. */
async function storedName(name: string, attributes: Record<string, string> = {}): Promise<unknown> {
  const span = line({ name, attributes });
  expect((await log.send([span])).answer?.rejectedSpans).toBe(0);
  const { rows } = await client.query('select actie_naam from verwerkingenlog.versies where verwerking_id = $1::uuid', [
    span.traceId,
  ]);
  return rows[0].actie_naam;
}

it('keeps no identifier that a dump shows: not from names, resources, addresses or other attributes', async () => {
  const person = '999990019';
  const pseudonym = newId(16);
  const span = line({
    name: `Zoeken ${person} (${pseudonym})`,
    attributes: {
      [DPL.activity]: `https://register.example/${person}`,
      [DPL.subject]: pseudonym,
      [DPL.subjectType]: 'pseudoniem',
      [DPL.processor]: `https://app.example/${person}`,
      'dpl.own': person,
      'app.own': person,
      'db.statement': `select ${person}`,
    },
    resource: { 'service.name': `balie-${pseudonym}`, 'service.instance': person },
  });
  expect((await log.send([span], { subject: 'dief' })).answer?.rejectedSpans).toBe(0);
  expect((await log.send([{ ...span, name: 'x' }], { subject: 'dief' })).answer?.rejectedSpans).toBe(1);
  const { rows } = await client.query(`select actie_id, actie_naam from verwerkingenlog.versies where door = 'dief'`);
  const text = await dump();
  expect(text).toContain('Zoeken *********');
  for (const identifier of [person, pseudonym, span.spanId]) expect(text).not.toContain(identifier);
  const history = await koppelvlak(database.url, ['log', 'history', rows[0].actie_id]);
  for (const identifier of [person, pseudonym, span.spanId]) expect(history.out).not.toContain(identifier);
  expect((await koppelvlak(database.url, ['log', 'history', rows[0].actie_id, '--identifiers'])).out).toContain(person);
  const lines = JSON.stringify(log.server.logged);
  for (const identifier of [person, pseudonym, span.spanId]) expect(lines).not.toContain(identifier);
});

/** A protobuf message with this many bytes of content. */
const wrapped = (tag: number, content: Buffer): Buffer => {
  const length: number[] = [];
  for (let rest = content.length; ; rest = Math.floor(rest / 128)) {
    length.push(rest > 127 ? (rest % 128) + 128 : rest);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const MEGABYTES = 15 * 1024 * 1024;
/** An empty field, repeated. */
const empties = (tag: number): Buffer => Buffer.alloc(MEGABYTES, Buffer.from([tag, 0]));
const inScope = (...spans: Buffer[]): Buffer => wrapped(0x0a, wrapped(0x12, Buffer.concat(spans)));
const inSpan = (content: Buffer): Buffer => inScope(wrapped(0x12, content));
/** Wire type 7 does not exist. */
const broken = wrapped(0x12, Buffer.from([0x07]));
/** Wire type 3 begins a group; 4 would end it. */
const openGroup = wrapped(0x12, Buffer.from([0x0b]));

it.each([
  ['resources', 'protobuf', empties(0x0a)],
  ['scopes', 'protobuf', wrapped(0x0a, empties(0x12))],
  ['attributes', 'protobuf', inSpan(empties(0x4a))],
  ['attributes behind a broken span', 'protobuf', inScope(broken, wrapped(0x12, empties(0x4a)))],
  ['spans that are broken', 'protobuf', inScope(Buffer.alloc(MEGABYTES, broken))],
  ['spans with a group that does not end', 'protobuf', inScope(Buffer.alloc(MEGABYTES, openGroup))],
  [
    'items in the value of an attribute',
    'protobuf',
    inSpan(wrapped(0x4a, wrapped(0x12, wrapped(0x2a, empties(0x0a))))),
  ],
  ['unknown fields', 'protobuf', inSpan(empties(0x6a))],
  ['resources', 'json', Buffer.from(`{"resourceSpans":[${'{},'.repeat(MEGABYTES / 3)}{}]}`)],
] as const)('refuses millions of empty %s in %s before creating objects', async (_, form, bytes) => {
  const body = Uint8Array.from(gzipSync(bytes));
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const { status } = await log.send([], { form, body, headers: { 'content-encoding': 'gzip' } });
  expect(status).toBe(413);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
});

it.each(HOSTILE_SHAPES)('refuses fifteen megabytes of %s in JSON before creating objects', async (shape) => {
  const body = Uint8Array.from(gzipSync(hostileJson(shape, MEGABYTES)));
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const { status } = await log.send([], { form: 'json', body, headers: { 'content-encoding': 'gzip' } });
  expect(status).toBe(shape.startsWith('nested') ? 400 : 413);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
});

const bomb = Uint8Array.from(gzipSync(Buffer.alloc(200 * 1024 * 1024)));

describe.each(FORMS)('in %s', (form) => {
  it('stops a gzip bomb at the limit', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const { status } = await log.send([], { form, body: bomb, headers: { 'content-encoding': 'gzip' } });
    expect(status).toBe(413);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('refuses a line with a deeply nested value, unless that is dropped', async () => {
    let value: AttributeValue = 'x';
    for (let depth = 0; depth < 40; depth += 1) value = [value];
    const [kept, dropped] = ['dpl.deep', 'other.deep'].map((name) => line({ attributes: { [name]: value } }));
    if (kept === undefined || dropped === undefined) throw new Error('two lines were expected');
    expect((await log.send([dropped, kept], { form })).answer).toEqual({
      rejectedSpans: 1,
      errorMessage: `1 regel is geweigerd; trace ${kept.traceId}, span ${kept.spanId}: attributes dpl.deep kan niet gelezen worden`,
    });
  });

  it('stores nothing of a truncated batch', async () => {
    const spans = Array.from({ length: 50 }, () => line());
    const bytes = encodeRequest(spans, form);
    const count = async () => (await client.query('select count(*)::int as n from verwerkingenlog.versies')).rows[0].n;
    const before = await count();
    for (const part of [0.2, 0.5, 0.9, 0.999]) {
      const body = Uint8Array.from(bytes.subarray(0, Math.floor(bytes.length * part)));
      expect((await log.send([], { form, body })).status).toBe(400);
    }
    expect(await count()).toBe(before);
  });
});

it.each([
  ['a very deep list', `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
  ['a very deep part', `{"resourceSpans":[${'{"arrayValue":{"values":['.repeat(20_000)}${']}}'.repeat(20_000)}}]}`],
  ['an object with very many members', `{${Array.from({ length: 100_000 }, (_, i) => `"m${i}":1`).join(',')}}`],
  ['invalid UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
])('refuses JSON with %s', async (_what, body) => {
  expect((await log.send([], { form: 'json', body })).status).toBe(400);
});

it('refuses the spans of a resource with a very deep value', async () => {
  const deep = `${'{"arrayValue":{"values":['.repeat(20_000)}${']}}'.repeat(20_000)}`;
  const resource = `{"attributes":[{"key":"service.name","value":${deep}}]}`;
  const body = `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"spans":[{}]}]}]}`;
  expect((await log.send([], { form: 'json', body })).answer).toEqual({
    rejectedSpans: 1,
    errorMessage:
      '1 regel is geweigerd; span (zonder geldig id): resource: resource.attributes service.name kan niet gelezen worden',
  });
});

it.each([
  ['a span that is not an object', '1', 'de regel is geen object'],
  ['an id that is not a text', '{"traceId":{}}', 'trace_id kan niet gelezen worden'],
  ['a time that is not an integer', '{"startTimeUnixNano":1.5}', 'start_time kan niet gelezen worden'],
])('refuses %s', async (_what, span, reason) => {
  const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`;
  expect((await log.send([], { form: 'json', body })).answer).toEqual({
    rejectedSpans: 1,
    errorMessage: `1 regel is geweigerd; span (zonder geldig id): ${reason}`,
  });
});

it('accepts several concurrent requests of a client, each of the maximum size, whatever other mounts may hold', async () => {
  const small = await startLdv({
    env: { 'server.bodiesInProgressBytes': '65536', 'ldv.bodyLimitBytes': '300000' },
    tokens: log.tokens,
  });
  const batch = () => Array.from({ length: 800 }, () => line());
  const sent = await Promise.all([small.send(batch()), small.send(batch())]);
  expect(sent.map(({ status, answer }) => [status, answer?.rejectedSpans])).toEqual([
    [200, 0],
    [200, 0],
  ]);
  await small.stop();
});

it('keeps room for other clients while one has used its share', async () => {
  const own = await createDatabase();
  const small = await startLdv({
    databaseUrl: own.url,
    env: { 'server.bodiesInProgressBytes': '65536', 'ldv.bodyLimitBytes': '300000' },
    tokens: log.tokens,
  });
  const owner = new pg.Client(own.url);
  await owner.connect();
  const batch = (wishes = {}) => Array.from({ length: 400 }, () => line(wishes));
  // Two of them exceed one client's share, which is half, but not all clients' total.
  const bytes = encodeRequest(batch(), 'protobuf').length;
  expect([2 * bytes > 150_000, 2 * bytes < 300_000]).toEqual([true, true]);
  await owner.query('begin; lock table verwerkingenlog.ldv_keys');
  const waits = small.send(batch(), { subject: 'een' });
  await expect
    .poll(
      async () =>
        (await owner.query(`select from pg_locks where relation = 'verwerkingenlog.ldv_keys'::regclass`)).rowCount,
    )
    .toBe(2);
  const refused = await small.send(batch({ start: 1n }), { subject: 'twee' });
  expect([refused.status, refused.answer?.rejectedSpans]).toEqual([200, 400]);
  await owner.query('rollback');
  await waits;
  await owner.end();
  await small.stop();
  await own.drop();
});

it('refuses a request that would be stored in a hundred times its bytes', async () => {
  const { resource } = line({ resource: { 'service.extra': 'x'.repeat(25_000) } });
  const spans = (count: number) => Array.from({ length: count }, () => ({ ...line(), resource }));
  expect(await log.send(spans(10))).toMatchObject({ status: 200, answer: { rejectedSpans: 0 } });
  expect(await log.send(spans(500))).toMatchObject({
    status: 413,
    error: { message: 'Het verzoek heeft te veel regels of onderdelen.' },
  });
});

it('has an unreadable line reported by a rotation and by the check of the log, which continue past it', async () => {
  const own = await createDatabase();
  const owner = new pg.Client(own.url);
  await owner.connect();
  const damaged = await startLdv({ databaseUrl: own.url, env: { VERWERKINGENLOG_KEY: KEY } });
  await damaged.send([line(), line(), line()]);
  await damaged.stop();
  const { rows } = await owner.query('select actie_id from verwerkingenlog.versies order by 1 limit 1');
  const broken = rows[0].actie_id;
  const ldv = createIdentityKeys(KEY).encrypt('eerste', broken, '{"client":"een","start":"1e+300"}');
  await owner.query('update verwerkingenlog.versies set ldv = $2 where actie_id = $1', [broken, ldv]);
  const both = { VERWERKINGENLOG_KEY: `tweede:${Buffer.alloc(32, 9).toString('base64')},${KEY}` };
  const rotated = await koppelvlak(own.url, ['log', 'rotate-key', '--json'], both);
  expect(rotated).toMatchObject({ code: 1, json: { rewritten: 2, unreadable: [{ actieId: broken, versie: 1 }] } });
  const verified = await koppelvlak(own.url, ['log', 'verify', '--json'], both);
  expect(verified).toMatchObject({ code: 1, json: { versions: 3, faults: [{ actieId: broken }] } });
  await owner.end();
  await own.drop();
});
