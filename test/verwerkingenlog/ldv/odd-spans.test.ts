/** One odd span among good ones: the good ones are stored, and the odd one is stored too or reported with its ids and member. */
import pg from 'pg';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DPL, type Span, writeAttributes } from '../../../src/verwerkingenlog/ldv/span.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { KEY } from '../support.ts';
import { encodeRequest } from './otlp-forms.ts';
import { FORMS, type LdvServer, line, newId, startLdv } from './support.ts';

let database: TestDatabase;
let client: pg.Client;
let log: LdvServer;
let ignoring: LdvServer;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  const env = { VERWERKINGENLOG_KEY: KEY, LDV_KEEP_ATTRIBUTES: 'app.kept' };
  log = await startLdv({ databaseUrl: database.url, env });
  ignoring = await startLdv({
    databaseUrl: database.url,
    tokens: log.tokens,
    env: { ...env, LDV_OTHER_SPANS: 'ignore' },
  });
});
afterAll(async () => {
  await ignoring?.stop();
  await log?.stop();
  await client?.end();
  await database?.drop();
});

async function isStored({ traceId }: Pick<Span, 'traceId'>): Promise<boolean> {
  const { rowCount } = await client.query('select 1 from verwerkingenlog.versies where verwerking_id = $1::uuid', [
    traceId,
  ]);
  return rowCount === 1;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${log.server.managementUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

type Json = Record<string, unknown>;

function inJson(span: Span): Json {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    name: span.name,
    startTimeUnixNano: String(span.start),
    endTimeUnixNano: String(span.end),
    attributes: writeAttributes(span.attributes),
    status: { code: 1 },
  };
}

/** With an additional attribute. */
const having = (attribute: unknown) => (span: Json) => {
  span.attributes = [...(Array.isArray(span.attributes) ? span.attributes : []), attribute];
};
const setting = (name: string, value: unknown) => (span: Json) => {
  span[name] = value;
};
const attribute = (key: string, value: unknown) => having({ key, value });
const KEPT = 'attributes app.kept';

/** Each with the reported member, or `stored`. */
const ODD: readonly (readonly [what: string, change: (span: Json) => void, outcome: string])[] = [
  ['a status by name', setting('status', { code: 'STATUS_CODE_ERROR' }), 'stored'],
  ['a kind by name', setting('kind', 'SPAN_KIND_SERVER'), 'stored'],
  ['a status by an unknown name', setting('status', { code: 'STATUS_CODE_FINE' }), 'status'],
  ['a status that is not an object', setting('status', 'STATUS_CODE_OK'), 'status'],
  ['a broken status', setting('status', { code: 1.5 }), 'status'],
  ['a broken integer', attribute('app.kept', { intValue: 3.5 }), KEPT],
  ['an integer in words', attribute('app.kept', { intValue: 'abc' }), KEPT],
  ['too large an integer', attribute('app.kept', { intValue: '9223372036854775808' }), 'een geheel getal past'],
  ['a bare value', attribute('app.kept', 'x'), KEPT],
  ['a list for a text', attribute('app.kept', { stringValue: ['x'] }), KEPT],
  ['a word for a truth', attribute('app.kept', { boolValue: 'ja' }), KEPT],
  ['two values', attribute('app.kept', { stringValue: 'x', intValue: '1' }), KEPT],
  ['a value with another member name', attribute('app.kept', { string_value: 'x' }), KEPT],
  ['bytes that are not base64', attribute('app.kept', { bytesValue: 'a b!' }), KEPT],
  ['a map with an invalid member', attribute('app.kept', { kvlistValue: { values: [7] } }), KEPT],
  ['a list value without a list', attribute('app.kept', { arrayValue: 'x' }), KEPT],
  ['a numeric name', setting('name', 42), 'name'],
  ['a list as a name', setting('name', ['x']), 'name'],
  ['no name', setting('name', null), 'stored'],
  ['no trace', setting('traceId', undefined), 'trace_id'],
  ['no id', setting('spanId', undefined), 'span_id'],
  ['a numeric id', setting('spanId', 17), 'span_id'],
  ['an id of odd length', setting('spanId', 'abc'), 'span_id'],
  ['an odd parent', setting('parentSpanId', 'abc'), 'parent_span_id'],
  ['a parent that is a number', setting('parentSpanId', 5), 'parent_span_id'],
  ['a broken time', setting('startTimeUnixNano', 1775000000.5), 'start_time'],
  ['a time in words', setting('endTimeUnixNano', 'gisteren'), 'end_time'],
  ['a negative time', setting('startTimeUnixNano', '-1'), 'start_time'],
  ['attributes that are an object', setting('attributes', { 'dpl.core.data_subject_id': 'x' }), 'attributes'],
  ['a count in words', setting('droppedAttributesCount', 'geen'), 'dropped_attributes_count'],
  ['events that are not events', setting('events', 'x'), 'stored'],
  ['links that are not links', setting('links', [1, null, { traceId: 5 }]), 'stored'],
  ['invalid flags and trace state', (span) => Object.assign(span, { flags: 'x', traceState: {} }), 'stored'],
  ['an attribute that is not an object', having('x'), 'stored'],
  ['an attribute without a name', having({ key: 7, value: {} }), 'stored'],
  ['a dropped invalid integer', attribute('x', { intValue: 3.5 }), 'stored'],
  ['a dropped integer that is too large', attribute('x', { intValue: '9223372036854775808' }), 'stored'],
  ['a dropped bare value', attribute('x', 'x'), 'stored'],
  ['a dropped map with an invalid member', attribute('x', { kvlistValue: { values: [7] } }), 'stored'],
  ['two dropped values', attribute('x', { stringValue: ['x'], intValue: {} }), 'stored'],
];

describe('in JSON', () => {
  it.each(ODD)('%s does not affect other spans', async (_what, change, outcome) => {
    const [before, odd, after] = [line(), line(), line()];
    const span = inJson(odd);
    change(span);
    const body = JSON.stringify({
      resourceSpans: [{ scopeSpans: [{ spans: [inJson(before), span, inJson(after)] }] }],
    });
    const { status, answer } = await log.send([], { form: 'json', body });
    expect(status).toBe(200);
    expect([await isStored(before), await isStored(after)]).toEqual([true, true]);
    expect(await isStored(odd)).toBe(outcome === 'stored');
    if (outcome === 'stored') expect(answer).toEqual({ rejectedSpans: 0, errorMessage: '' });
    else {
      expect(answer?.rejectedSpans).toBe(1);
      expect(answer?.errorMessage).toContain(outcome);
      if (outcome !== 'trace_id') expect(answer?.errorMessage).toContain(`trace ${odd.traceId}, span `);
      if (outcome !== 'span_id') expect(answer?.errorMessage).toContain(`span ${odd.spanId}: `);
    }
  });

  it.each([
    ['a span that is not an object', { spans: ['x', null] }, 2, 'de regel is geen object'],
    ['spans that are not a list', { spans: 'x' }, 1, 'resourceSpans[0].scopeSpans[0] kan niet gelezen worden'],
    ['a scope that is not an object', 'x', 1, 'resourceSpans[0].scopeSpans[0] kan niet gelezen worden'],
  ])('%s does not affect other spans', async (_what, scope, count, reason) => {
    const good = line();
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [scope, { spans: [inJson(good)] }] }] });
    const { answer } = await log.send([], { form: 'json', body });
    expect(answer?.rejectedSpans).toBe(count);
    expect(answer?.errorMessage).toContain(reason);
    expect(await isStored(good)).toBe(true);
  });

  it.each([
    ['that is not an object', 'x', 'resource: resource kan niet gelezen worden'],
    ['with attributes that are no list', { attributes: {} }, 'resource: resource.attributes kan niet gelezen worden'],
    [
      'with a name of the application that is none',
      { attributes: [{ key: 'service.name', value: 'Balie' }] },
      'resource: resource.attributes service.name kan niet gelezen worden',
    ],
  ])('a resource %s causes its own spans to be refused', async (_what, resource, reason) => {
    const [odd, good] = [line(), line()];
    const spansOf = (span: Span) => [{ spans: [inJson(span)] }];
    const body = JSON.stringify({
      resourceSpans: [{ resource, scopeSpans: spansOf(odd) }, { scopeSpans: spansOf(good) }],
    });
    expect((await log.send([], { form: 'json', body })).answer).toEqual({
      rejectedSpans: 1,
      errorMessage: `1 regel is geweigerd; trace ${odd.traceId}, span ${odd.spanId}: ${reason}`,
    });
    expect([await isStored(odd), await isStored(good)]).toEqual([false, true]);
  });

  it('a dropped attribute of a resource does no harm', async () => {
    const span = line();
    const resource = { attributes: ['x', { key: 'host.id', value: 5 }, { key: 5 }] };
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [inJson(span)] }] }] });
    expect((await log.send([], { form: 'json', body })).answer).toEqual({ rejectedSpans: 0, errorMessage: '' });
    expect(await isStored(span)).toBe(true);
  });

  it("does not name an attribute that may contain a person's number", async () => {
    const span = inJson(line());
    attribute('dpl.999990019', 'x')(span);
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    const { answer } = await log.send([], { form: 'json', body });
    expect(answer?.errorMessage).toContain('attributes (een andere naam) kan niet gelezen worden');
    expect(answer?.errorMessage).not.toContain('999990019');
  });

  it('an odd span without LDV attributes is ignored where others are', async () => {
    const other = { ...inJson(line()), name: 5, attributes: [{ key: 'http.method', value: 1 }] };
    const own = line();
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [other, { ...inJson(own), name: 5 }] }] }] });
    const { answer } = await ignoring.send([], { form: 'json', body });
    expect(answer?.rejectedSpans).toBe(1);
    expect(answer?.errorMessage).toContain(own.spanId);
  });
});

describe('in protobuf', () => {
  const { Writer } = protobuf;
  const message = (field: number, bytes: Uint8Array): Uint8Array =>
    Writer.create()
      .uint32((field << 3) | 2)
      .bytes(bytes)
      .finish();
  const text = (field: number, value: string): Uint8Array => message(field, Buffer.from(value));
  const concat = (...parts: Uint8Array[]): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.concat(parts));
  const keyValue = (key: string, value: Uint8Array): Uint8Array => concat(text(1, key), message(2, value));
  const NOT_UTF8 = Buffer.from([0xc3, 0x28, 0xff]);
  const times = Writer.create()
    .uint32((7 << 3) | 1)
    .fixed64('1775000000123456789')
    .uint32((8 << 3) | 1)
    .fixed64('1775000000123456789')
    .finish();

  /** A hand-made span, with these bytes added. */
  const written = ({ traceId, spanId }: Span, ...more: Uint8Array[]): Uint8Array =>
    concat(
      message(1, Buffer.from(traceId, 'hex')),
      message(2, Buffer.from(spanId, 'hex')),
      times,
      message(9, keyValue(DPL.activity, text(1, 'urn:x'))),
      ...more,
    );
  const request = (resource: Uint8Array, ...spans: Uint8Array[]) =>
    message(1, concat(message(1, resource), message(2, concat(...spans.map((span) => message(2, span))))));
  const NO_RESOURCE = new Uint8Array();
  /** Its last bytes are missing, although its length includes them. */
  const cut = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, -2);

  it.each([
    ['a name that is not UTF-8', message(5, NOT_UTF8), 'name'],
    ['a truncated status', message(15, cut(message(2, Buffer.from('fout')))), 'status'],
    ['a value that is not UTF-8', message(9, keyValue('app.kept', message(1, NOT_UTF8))), KEPT],
    ['a truncated value', message(9, keyValue('app.kept', cut(text(1, 'waarde')))), KEPT],
    ['a truncated span', cut(text(5, 'Zoeken persoon')), 'name'],
    ['an invalid field', Uint8Array.of(0x07), 'kan niet gelezen worden'],
    ['an attribute with a truncated name', message(9, cut(text(1, 'app.kept'))), 'attributes'],
    ['a dropped value that is not UTF-8', message(9, keyValue('x', message(1, NOT_UTF8))), 'stored'],
    ['a dropped truncated value', message(9, keyValue('x', cut(text(1, 'waarde')))), 'stored'],
    ['a dropped truncated attribute', message(9, cut(keyValue('x', text(1, 'waarde')))), 'stored'],
    ['a dropped value of the wrong wire type', message(9, concat(text(1, 'x'), Uint8Array.of(0x10, 0x05))), 'stored'],
    ['a name of a dropped attribute that is not UTF-8', message(9, message(1, NOT_UTF8)), 'stored'],
    ['truncated events', message(11, cut(text(3, 'gebeurtenis'))), 'stored'],
    ['a name of the wrong wire type', Uint8Array.of(0x28, 0x05), 'stored'],
  ] as const)('%s does not affect other spans', async (_what, more, outcome) => {
    const [before, odd, after] = [line(), line(), line()];
    const body = concat(request(NO_RESOURCE, written(before), written(odd, more), written(after)));
    const { status, answer } = await log.send([], { body });
    expect([status, await isStored(before), await isStored(after)]).toEqual([200, true, true]);
    expect(await isStored(odd)).toBe(outcome === 'stored');
    if (outcome === 'stored') expect(answer).toEqual({ rejectedSpans: 0, errorMessage: '' });
    else {
      expect(answer?.rejectedSpans).toBe(1);
      expect(answer?.errorMessage).toContain(`trace ${odd.traceId}, span ${odd.spanId}: `);
      expect(answer?.errorMessage).toContain(outcome);
    }
  });

  it('an attribute of a resource does no harm when it is dropped, and to its own spans only when it is kept', async () => {
    const [dropped, kept] = [line(), line()];
    const bad = (key: string) => message(1, keyValue(key, message(1, NOT_UTF8)));
    const body = concat(request(bad('host.id'), written(dropped)), request(bad('service.name'), written(kept)));
    expect((await log.send([], { body })).answer).toEqual({
      rejectedSpans: 1,
      errorMessage: `1 regel is geweigerd; trace ${kept.traceId}, span ${kept.spanId}: resource: attributes service.name kan niet gelezen worden`,
    });
    expect([await isStored(dropped), await isStored(kept)]).toEqual([true, false]);
  });

  it('a truncated part harms no span before it and no other part', async () => {
    const [inside, beside] = [line(), line()];
    const scope = message(2, concat(message(2, written(inside)), Uint8Array.of(0x12, 0x7f, 0x01)));
    const body = concat(message(1, scope), request(NO_RESOURCE, written(beside)));
    const { answer } = await log.send([], { body });
    expect(answer?.rejectedSpans).toBe(1);
    expect(answer?.errorMessage).toContain('resourceSpans[0].scopeSpans[0] kan niet gelezen worden');
    expect([await isStored(inside), await isStored(beside)]).toEqual([true, true]);
  });
});

describe('a non-empty request without spans', () => {
  const span = () => inJson(line());
  it.each([
    ['names in snake case', { resource_spans: [{ scope_spans: [{ spans: [span()] }] }] }, 'resource_spans'],
    [
      'an inner name in snake case',
      { resourceSpans: [{ scope_spans: [{ spans: [span()] }] }] },
      'resourceSpans[].scope_spans',
    ],
    [
      'an older form',
      { resourceSpans: [{ resource: {}, instrumentationLibrarySpans: [{ spans: [span()] }] }] },
      'resourceSpans[].instrumentationLibrarySpans',
    ],
    ['logs', { resourceLogs: [{ scopeLogs: [{ logRecords: [{}] }] }] }, 'resourceLogs'],
    ['metrics', { resourceMetrics: [{}] }, 'resourceMetrics'],
    [
      'spans by another name',
      { resourceSpans: [{ scopeSpans: [{ Spans: [span()] }] }] },
      'resourceSpans[].scopeSpans[].Spans',
    ],
  ])('causes a warning and is counted: %s', async (_what, body, found) => {
    const before = await metric('koppelvlak_ldv_other_contents_total');
    const sent = await log.send([], { form: 'json', body: JSON.stringify(body) });
    expect([sent.status, sent.answer]).toEqual([
      200,
      {
        rejectedSpans: 0,
        errorMessage: `er zijn geen regels gevonden: in plaats van resourceSpans[].scopeSpans[].spans[] staat er ${found}`,
      },
    ]);
    expect(JSON.parse(sent.bytes.toString()).partialSuccess.rejectedSpans).toBe('0');
    expect(await metric('koppelvlak_ldv_other_contents_total')).toBe(before + 1);
  });

  it('causes a warning in protobuf: the older form has a separate field', async () => {
    const older = protobuf.Writer.create()
      .uint32((1000 << 3) | 2)
      .bytes(Buffer.from('x'))
      .finish();
    const body = Uint8Array.from(protobuf.Writer.create().uint32(10).bytes(older).finish());
    const { status, answer } = await log.send([], { body });
    expect([status, answer?.rejectedSpans]).toEqual([200, 0]);
    expect(answer?.errorMessage).toContain('resourceSpans[].veld 1000');
  });

  it('causes a warning if other spans were found, which are stored', async () => {
    const good = line();
    const body = JSON.stringify({
      resourceSpans: [{ scopeSpans: [{ spans: [inJson(good)] }] }, { instrumentationLibrarySpans: [{}] }],
    });
    const { answer } = await log.send([], { form: 'json', body });
    expect(answer?.rejectedSpans).toBe(0);
    expect(answer?.errorMessage).toMatch(
      /^een deel is niet gelezen: .* resourceSpans\[\]\.instrumentationLibrarySpans$/,
    );
    expect(await isStored(good)).toBe(true);
  });

  it.each([
    ['an empty object', {}],
    ['no parts', { resourceSpans: [] }],
    ['null', { resourceSpans: null }],
    [
      'parts without spans',
      { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: [] }], schemaUrl: 'x' }] },
    ],
  ])('causes no warning when it is empty: %s', async (_what, body) => {
    const sent = await log.send([], { form: 'json', body: JSON.stringify(body) });
    expect([sent.status, sent.bytes.toString()]).toEqual([200, '{}']);
  });

  it.each(FORMS)('does not count as one when spans were refused: %s', async (form) => {
    const body = encodeRequest([line({ end: 1n, spanId: newId(8) })], form);
    const { answer } = await log.send([], { form, body: Uint8Array.from(body) });
    expect(answer?.errorMessage).not.toContain('resourceSpans');
  });
});
