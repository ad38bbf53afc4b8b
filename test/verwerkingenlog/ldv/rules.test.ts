/** Which lines are refused, and what the register and the settings decide. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/lib/time.ts';
import { DPL, type Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { EVERY, HEADERS, type List, listIn, newPerson } from '../support.ts';
import { FORMS, type LdvServer, line, newId, register, START, startLdv, subjectIn } from './support.ts';

const ALL = ['create:confidential', 'read:confidential', 'update:confidential', 'delete:confidential'];
let log: LdvServer;
beforeAll(async () => {
  log = await startLdv();
});
afterAll(() => log.stop());

async function acties(
  server: LdvServer,
  kind: string,
  person: string,
  more: Record<string, string> = {},
): Promise<List['results']> {
  const query = new URLSearchParams({
    objecttype: 'persoon',
    soortObjectId: kind,
    objectId: person,
    beperkteSet: 'false',
    ...EVERY,
    ...more,
  });
  const { results } = listIn(
    await server.call(ALL, 'GET', `/verwerkingsacties?${query}`, undefined, {
      ...HEADERS,
      Vertrouwelijkheid: 'vertrouwelijk',
    }),
  );
  // Reading adds its own entry.
  return results.filter(({ actieNaam }) => actieNaam !== 'Raadplegen verwerkingenlog');
}

describe.each(FORMS)('in %s a line is refused', (form) => {
  const cases: readonly (readonly [string, Span, RegExp])[] = [
    ['without an activity', line({ attributes: { [DPL.activity]: undefined } }), /processing_activity_id ontbreekt/],
    ['with an empty activity', line({ attributes: { [DPL.activity]: '' } }), /processing_activity_id ontbreekt/],
    ['with a trace of zeros', line({ traceId: '0'.repeat(32) }), /trace_id is niet geldig/],
    ['with a trace that is too short', line({ traceId: 'ab' }), /trace_id is niet geldig/],
    ['without a trace', line({ traceId: '' }), /trace_id is niet geldig/],
    ['with a span of zeros', line({ spanId: '0'.repeat(16) }), /\(zonder geldig id\): span_id is niet geldig/],
    ['with a parent that is too short', line({ parentSpanId: 'ab' }), /parent_span_id is niet geldig/],
    ['that ends before it starts', line({ end: START - 1n }), /end_time ligt voor start_time/],
    [
      'with times in milliseconds',
      line({ start: START / 1_000_000n, end: START / 1_000_000n }),
      /voor 2000.*milliseconden/,
    ],
    ['with times in microseconds', line({ start: START / 1000n, end: START }), /voor 2000/],
    ['without a start', line({ start: 0n }), /voor 2000/],
    [
      'whose activity may have been dropped',
      line({ droppedAttributes: 2, attributes: { [DPL.activity]: undefined } }),
      /weggelaten.*activity_id/,
    ],
    [
      'whose person may have been dropped',
      line({ droppedAttributes: 1, attributes: { [DPL.subject]: undefined } }),
      /weggelaten.*subject_id/,
    ],
    [
      'with a text of LDV that is too long',
      line({ attributes: { [DPL.subject]: 'x'.repeat(1025) } }),
      /meer dan 1024 tekens/,
    ],
    [
      'with an activity that is too long',
      line({ attributes: { [DPL.activity]: `https://a.example/${'x'.repeat(2042)}` } }),
      /meer dan 2042/,
    ],
    ['with NUL in its name', line({ name: 'a\0b' }), /name is geen geldige tekst/],
    ['with a person that is not a string', line({ attributes: { [DPL.subject]: true } }), /subject_id is geen tekst/],
    [
      'with more than is kept of a line',
      line({ attributes: { 'dpl.x': 'x'.repeat(40_000) } }),
      /meer dan 32768 tekens/,
    ],
  ];
  it.each(cases)('%s', async (_what, span, reason) => {
    const { status, answer } = await log.send([span], { form });
    expect([status, answer?.rejectedSpans]).toEqual([200, 1]);
    expect(answer?.errorMessage).toMatch(reason);
    const person = span.attributes.get(DPL.subject);
    if (typeof person === 'string') expect(answer?.errorMessage).not.toContain(person);
  });
});

it.each(FORMS)('treats a parent of zeros as no parent (%s)', async (form) => {
  const span = line({ parentSpanId: '0'.repeat(16) });
  expect((await log.send([span], { form })).answer?.rejectedSpans).toBe(0);
  const { parentSpanId: _, ...without } = span;
  // The same line to the log, however it is sent.
  expect((await log.send([without], { form })).answer?.rejectedSpans).toBe(0);
});

it('refuses half a surrogate pair, which only JSON can express', async () => {
  const body = JSON.stringify({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                traceId: newId(16),
                spanId: newId(8),
                name: '\ud800',
                startTimeUnixNano: String(START),
                endTimeUnixNano: String(START),
                attributes: [{ key: DPL.activity, value: { stringValue: 'https://a.example' } }],
              },
            ],
          },
        ],
      },
    ],
  });
  expect((await log.send([], { form: 'json', body })).answer?.errorMessage).toMatch(/name is geen geldige tekst/);
});

it.each([
  ['without a person', { [DPL.subject]: undefined, [DPL.subjectType]: undefined }],
  ['with all of LDV, though other attributes were dropped', {}],
])('accepts a line %s', async (_what, attributes) => {
  const dropped = Object.keys(attributes).length === 0 ? { droppedAttributes: 3 } : {};
  expect((await log.send([line({ attributes, ...dropped })])).answer?.rejectedSpans).toBe(0);
});

it('finds a person by any spelling of BSN, and a pseudonym by its own type only', async () => {
  const person = newPerson();
  for (const kind of ['BSN', 'bsn', 'Bsn'])
    await log.send([line({ attributes: { [DPL.subject]: person, [DPL.subjectType]: kind } })]);
  expect(await acties(log, 'BSN', person, { vertrouwelijkheid: 'normaal' })).toHaveLength(3);
  const pseudonym = newId(16).repeat(8);
  const kind = 'https://pseudoniem.example/soort';
  await log.send([line({ attributes: { [DPL.subject]: pseudonym, [DPL.subjectType]: kind } })]);
  const [actie, ...others] = await acties(log, kind, pseudonym, { vertrouwelijkheid: 'normaal' });
  expect(others).toEqual([]);
  expect(actie).toMatchObject({ verwerkteObjecten: [{ soortObjectId: kind, objectId: pseudonym }] });
  expect(await acties(log, 'BSN', pseudonym, { vertrouwelijkheid: 'normaal' })).toEqual([]);
});

it("sets the organisation: the token's, or else the setting's", async () => {
  const set = await startLdv({ env: { LDV_UITVOERDER: '00000099000000007000' }, tokens: log.tokens });
  const [one, two] = [line(), line()];
  await set.send([one]);
  await set.send([two], { subject: '00000099000000001000' });
  expect(await acties(set, 'BSN', subjectIn(one))).toMatchObject([{ uitvoerder: '00000099000000007000' }]);
  expect(await acties(set, 'BSN', subjectIn(two))).toMatchObject([{ uitvoerder: '00000099000000001000' }]);
  await set.stop();
});

describe('by its settings the intake', () => {
  it('ignores other spans, but not a line without its activity', async () => {
    const set = await startLdv({ env: { LDV_OTHER_SPANS: 'ignore' }, tokens: log.tokens });
    const other = line({
      attributes: {
        [DPL.activity]: undefined,
        [DPL.subject]: undefined,
        [DPL.subjectType]: undefined,
        'http.method': 'GET',
      },
    });
    const cut = line({ attributes: { [DPL.activity]: undefined } });
    const { answer } = await set.send([
      other,
      { ...cut, droppedAttributes: 1 },
      { ...other, spanId: newId(8), droppedAttributes: 1 },
      line(),
    ]);
    expect(answer?.rejectedSpans).toBe(2);
    expect(await (await fetch(`${set.server.managementUrl}/metrics`)).text()).toMatch(
      /koppelvlak_ldv_spans_total\{outcome="ignored"\} 1/,
    );
    await set.stop();
  });

  it('refuses a plain BSN and accepts a pseudonym', async () => {
    const set = await startLdv({ env: { LDV_PLAIN_BSN: 'refuse' }, tokens: log.tokens });
    const plain = line({ attributes: { [DPL.subject]: '999990019', [DPL.subjectType]: 'bsn' } });
    const untyped = line({ attributes: { [DPL.subject]: '999990019', [DPL.subjectType]: undefined } });
    const pseudonym = line({ attributes: { [DPL.subject]: newId(16), [DPL.subjectType]: 'BSN' } });
    const { answer } = await set.send([plain, untyped, pseudonym]);
    expect(answer?.rejectedSpans).toBe(2);
    expect(answer?.errorMessage).toMatch(/geen pseudoniem/);
    expect(answer?.errorMessage).not.toContain('999990019');
    await set.stop();
  });

  it('checks a plain BSN by the eleven test', async () => {
    const set = await startLdv({ env: { VERWERKINGENLOG_CHECK_BSN: 'true' }, tokens: log.tokens });
    const { answer } = await set.send([
      line({ attributes: { [DPL.subject]: '999990018' } }),
      line({ attributes: { [DPL.subject]: '999990019' } }),
    ]);
    expect(answer?.errorMessage).toMatch(/^1 regel.*elfproef/);
    await set.stop();
  });

  it.each([
    ['refuse', undefined],
    ['normaal', 'normaal'],
    ['vertrouwelijk', 'vertrouwelijk'],
  ])('handles an unknown activity: %s', async (setting, vertrouwelijkheid) => {
    const set = await startLdv({ env: { LDV_UNKNOWN_ACTIVITY: setting }, tokens: log.tokens });
    const span = line();
    const { answer } = await set.send([span]);
    expect(answer?.rejectedSpans).toBe(vertrouwelijkheid === undefined ? 1 : 0);
    const found = await acties(set, 'BSN', subjectIn(span));
    expect(found.map((actie) => actie.vertrouwelijkheid)).toEqual(
      vertrouwelijkheid === undefined ? [] : [vertrouwelijkheid],
    );
    expect(await (await fetch(`${set.server.managementUrl}/metrics`)).text()).toMatch(
      /koppelvlak_ldv_unknown_activity_total 1/,
    );
    await set.stop();
  });
});

describe('the register decides', () => {
  let now = new Date('2026-04-01T12:00:00Z');
  const clock: Clock = { now: () => now };
  const ns = (at: string): bigint => BigInt(Date.parse(at)) * 1_000_000n;
  let set: LdvServer;
  beforeAll(async () => {
    set = await startLdv({ env: { LDV_UNKNOWN_ACTIVITY: 'refuse' }, clock, tokens: log.tokens });
  });
  afterAll(() => set.stop());

  it('name, term and confidentiality as they were when the line began; later changes do not alter stored lines', async () => {
    const id = randomUUID();
    const at = (moment: string) =>
      line({ start: ns(moment), end: ns(moment), attributes: { [DPL.activity]: `urn:uuid:${id}` } });
    await register(set, id, { naam: 'Eerste', bewaartermijn: 'P5Y' });
    const [before, first, second, late] = [
      at('2026-03-01T12:00:00Z'),
      at('2026-04-02T12:00:00Z'),
      at('2026-04-04T12:00:00Z'),
      at('2026-03-02T12:00:00Z'),
    ];
    expect((await set.send([before, first])).answer?.rejectedSpans).toBe(0);
    now = new Date('2026-04-03T12:00:00Z');
    await register(set, id, {
      naam: 'Tweede',
      bewaartermijn: '7 jaar na het einde',
      vertrouwelijkheid: 'vertrouwelijk',
    });
    // A line from before the activity was confidential, arriving now.
    const normal = await set.send([late, second]);
    expect(normal.answer).toMatchObject({ rejectedSpans: 2 });
    for (const { spanId } of [late, second]) {
      expect(normal.answer?.errorMessage).toContain(
        `${spanId}: deze verwerkingsactiviteit vraagt de scope create:confidential`,
      );
    }
    expect((await set.send([late, second], { scopes: ['create:confidential'] })).answer?.rejectedSpans).toBe(0);
    const { call } = set;
    now = new Date('2026-04-05T12:00:00Z');
    expect((await call(['register:write'], 'DELETE', `/verwerkingsactiviteiten/${id}`)).status).toBe(204);
    const seen = async (span: Span) => (await acties(set, 'BSN', subjectIn(span)))[0];
    expect(await seen(before)).toMatchObject({
      verwerkingNaam: 'Eerste',
      bewaartermijn: 'P5Y',
      vertrouwelijkheid: 'normaal',
    });
    expect(await seen(first)).toMatchObject({
      verwerkingNaam: 'Eerste',
      bewaartermijn: 'P5Y',
      vertrouwelijkheid: 'normaal',
    });
    expect(await seen(second)).toMatchObject({
      verwerkingNaam: 'Tweede',
      bewaartermijn: null,
      vertrouwelijkheid: 'vertrouwelijk',
    });
    expect(await seen(late)).toMatchObject({
      verwerkingNaam: 'Eerste',
      bewaartermijn: 'P5Y',
      vertrouwelijkheid: 'vertrouwelijk',
    });
    // After its removal it is unknown; before that it was known, with its last confidentiality.
    const [unknown, known] = [at('2026-04-06T12:00:00Z'), at('2026-04-02T12:00:00Z')];
    expect((await set.send([unknown], { scopes: ['create:confidential'] })).answer?.rejectedSpans).toBe(1);
    expect((await set.send([known])).answer?.rejectedSpans).toBe(1);
    expect((await set.send([known], { scopes: ['create:confidential'] })).answer?.rejectedSpans).toBe(0);
  });

  it('returns the confidentiality of an activity, and accepts only the two values', async () => {
    const id = randomUUID();
    await register(set, id);
    expect((await set.call(['read:normal'], 'GET', `/verwerkingsactiviteiten/${id}`)).json).toMatchObject({
      vertrouwelijkheid: 'normaal',
    });
    await expect(register(set, id, { vertrouwelijkheid: 'opgeheven' })).rejects.toThrow('400');
  });
});

describe('a change of a whole processing', () => {
  const verwerkingOf = (span: Span): string => span.traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const patch = (scopes: string[], verwerkingId: string, body: object) =>
    log.call(scopes, 'PATCH', `/verwerkingsacties?verwerkingId=${verwerkingId}`, body);

  it('with update:normal skips LDV lines: neither changed nor a reason for 403', async () => {
    const id = randomUUID();
    await register(log, id, { vertrouwelijkheid: 'vertrouwelijk' });
    const span = line({ attributes: { [DPL.activity]: `https://register.example/${id}` } });
    expect((await log.send([span], { scopes: ['create:confidential'] })).answer?.rejectedSpans).toBe(0);
    const only = await patch(['update:normal'], verwerkingOf(span), { bewaartermijn: 'P9Y' });
    expect(only.status).toBe(400);
    const person = newPerson();
    const body = {
      vertrouwelijkheid: 'normaal',
      tijdstip: '2026-01-15T13:35:42Z',
      verwerkingId: verwerkingOf(span),
      verwerkteObjecten: [{ objecttype: 'persoon', soortObjectId: 'BSN', objectId: person }],
    };
    expect((await log.call(['create:normal'], 'POST', '/verwerkingsacties', body)).status).toBe(201);
    expect((await patch(['update:normal'], verwerkingOf(span), { bewaartermijn: 'P9Y' })).status).toBe(204);
    expect(await acties(log, 'BSN', person)).toMatchObject([{ bewaartermijn: 'P9Y' }]);
    expect(await acties(log, 'BSN', subjectIn(span))).toMatchObject([{ bewaartermijn: null }]);
    expect((await patch(['update:confidential'], verwerkingOf(span), { vertrouwelijkheid: 'opgeheven' })).status).toBe(
      204,
    );
    expect(await acties(log, 'BSN', subjectIn(span))).toMatchObject([{ vertrouwelijkheid: 'opgeheven' }]);
  });
});
