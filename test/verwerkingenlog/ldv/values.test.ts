/** Lines with arbitrary values: each is refused, or is stored completely and forwarded, and never blocks another. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdentityKeys } from '../../../src/verwerkingenlog/domain/encryption.ts';
import { type AttributeValue, DPL, type Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { readLine } from '../../../src/verwerkingenlog/ldv/stored-line.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { koppelvlak } from '../cli.ts';
import { actie, actieIn, KEY, listIn, newPerson, ofPerson } from '../support.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { FORMS, type LdvServer, line, newId, startLdv, subjectIn } from './support.ts';

const PATIENT = { timeout: 60_000, interval: 20 };

let database: TestDatabase;
let client: pg.Client;
let other: Receiver;
let log: LdvServer;
beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  other = await startReceiver();
  log = await startLdv({
    databaseUrl: database.url,
    env: {
      LDV_KEEP_ATTRIBUTES: 'app.*',
      LDV_FORWARD_URL: other.url,
      'ldvOut.forwardBackoffMaxSeconds': '1',
    },
  });
});
afterAll(async () => {
  await log?.stop();
  await other?.close();
  await client?.end();
  await database?.drop();
});
beforeEach(async () => {
  other.answer = () => undefined;
  await emptied();
  other.taken.length = 0;
  await client.query('truncate verwerkingenlog.ldv_forward_issues');
});

async function emptied(): Promise<void> {
  const pending = async () =>
    (await client.query('select count(*)::integer as n from verwerkingenlog.ldv_forward_queue')).rows[0].n;
  await expect.poll(pending, PATIENT).toBe(0);
}

async function issues(): Promise<Record<string, unknown>[]> {
  const text = 'select kind as soort, actie_id, reason as reden from verwerkingenlog.ldv_forward_issues order by id';
  return (await client.query(text)).rows;
}

/** The stored lines of the actions that the log shows about a person. */
async function linesOf(person: string): Promise<readonly Span[]> {
  const list = listIn(await log.call(['read:confidential'], 'GET', `/verwerkingsacties?${ofPerson(person)}`));
  const { rows } = await client.query(
    'select actie_id as id, ldv, key_name as key from verwerkingenlog.versies where actie_id = any($1::uuid[])',
    [list.results.map(({ actieId }) => actieId)],
  );
  const keys = createIdentityKeys(KEY);
  return rows.map(({ id, ldv, key }) => readLine(keys.decrypt(key, id, ldv)).span);
}

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
/** Texts with everything that JSON can express: NUL, lone surrogates, number-like texts. */
const text = fc.oneof(
  // fast-check's unit `binary` first builds a table of a million characters.
  fc.array(fc.integer({ min: 0, max: 0x10_ff_ff }), { maxLength: 10 }).map((points) => String.fromCodePoint(...points)),
  fc.constantFrom('', '\0', 'a\0b', '\ud800', '\udc00x', 'a\ud83d', '__proto__', '1e300', 'NaN'),
);
const integer = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc.constantFrom(MIN, MAX, 0n, 9_007_199_254_740_993n, 2n ** 53n),
);
const number = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Infinity, -Infinity, -0, 5e-324, 1e300));
const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    text,
    integer,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 3 }).map((members) => new Map(members)),
  ),
}));

/** Protobuf text is always UTF-8: an invalid character is sent as U+FFFD. */
function inUtf8(of: AttributeValue): AttributeValue {
  if (typeof of === 'string') return of.toWellFormed();
  if (of instanceof Map) return new Map([...of].map(([name, inner]) => [name.toWellFormed(), inUtf8(inner)]));
  return Array.isArray(of) ? of.map(inUtf8) : of;
}

describe.each(FORMS)('a value of any kind in %s', (form) => {
  it('is stored as it was sent, and forwarded', async () => {
    const sent: Span[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 6 }), async (values) => {
        const named = values.map((one, i) => [`app.${i}`, one] as const);
        const span = line({ attributes: { 'dpl.own': values, ...Object.fromEntries(named) } });
        expect(await log.send([span], { form })).toMatchObject({ status: 200, answer: { rejectedSpans: 0 } });
        sent.push(span);
        const [read, ...others] = await linesOf(subjectIn(span));
        expect(others).toEqual([]);
        // Protobuf has already lost text that is not UTF-8.
        const came = form === 'json' ? values : values.map(inUtf8);
        expect(read?.attributes.get('dpl.own')).toEqual(came);
        for (const [i, one] of came.entries()) expect(read?.attributes.get(`app.${i}`)).toEqual(one);
      }),
      { numRuns: 60 },
    );
    await emptied();
    expect(await issues()).toEqual([]);
    const taken = new Map(other.taken.map((span) => [span.spanId, span]));
    for (const { spanId, attributes } of sent) {
      for (const [name, one] of attributes) expect(taken.get(spanId)?.attributes.get(name)).toEqual(inUtf8(one));
    }
  });

  it('that is an integer beyond 64 bits causes only its own line to be refused', async () => {
    const large = [2n ** 63n, -(2n ** 63n) - 1n, BigInt(1e300), 10n ** 21n].map((n) =>
      line({ attributes: { 'app.n': [new Map([['inner', n]])] } }),
    );
    const resource = line({ resource: { 'service.number': 2n ** 64n } });
    const error = line({ attributes: { 'exception.message': 2n ** 63n } });
    const good = line({ attributes: { 'app.n': MAX } });
    // Protobuf cannot represent a larger one: it is sent as another number.
    const wrong = form === 'json' ? [...large, resource, error] : [];
    const { status, answer } = await log.send([...wrong, good], { form });
    expect([status, answer?.rejectedSpans]).toEqual([200, wrong.length]);
    for (const { spanId } of wrong) {
      expect(answer?.errorMessage).toContain(`span ${spanId}: een geheel getal past niet in 64 bits`);
    }
    const [stored] = await linesOf(subjectIn(good));
    expect(stored?.attributes.get('app.n')).toBe(MAX);
  });
});

/** A hand-written JSON line, with these texts as its members. */
function written(members: string, attributes: readonly string[], spanId = newId(8)): string {
  const own = [
    `{"key":"${DPL.activity}","value":{"stringValue":"urn:x"}}`,
    `{"key":"${DPL.subjectType}","value":{"stringValue":"BSN"}}`,
    ...attributes,
  ];
  return `{"traceId":"${newId(16)}","spanId":"${spanId}","name":"x",${members},"attributes":[${own.join()}]}`;
}
const inRequest = (spans: readonly string[]): string =>
  `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans.join()}]}]}]}`;
const TIMES = '"startTimeUnixNano":"1775000000123456789","endTimeUnixNano":"1775000000123456789"';

describe('JSON', () => {
  it.each([
    ['a number from 1e21', '"startTimeUnixNano":1e21', 'een tijd past niet in 64 bits'],
    ['a number beyond a double', '"startTimeUnixNano":1e999', 'een tijd past niet in 64 bits'],
    [
      'a number with very many digits',
      `"startTimeUnixNano":${'9'.repeat(10_000_000)}`,
      'een tijd past niet in 64 bits',
    ],
    ['a text with many digits', `"startTimeUnixNano":"${'9'.repeat(100_000)}"`, 'een tijd past niet in 64 bits'],
  ])('with %s as a time causes only that line to be refused', async (_what, members, reason) => {
    const person = newPerson();
    const subject = `{"key":"${DPL.subject}","value":{"stringValue":"${person}"}}`;
    const spanId = newId(8);
    const body = inRequest([written(members, [], spanId), written(TIMES, [subject])]);
    expect((await log.send([], { form: 'json', body })).answer).toEqual({
      rejectedSpans: 1,
      errorMessage: expect.stringMatching(`^1 regel is geweigerd; trace [0-9a-f]{32}, span ${spanId}: ${reason}$`),
    });
    expect(await linesOf(person)).toHaveLength(1);
  });

  it.each([
    ['1e300', '{"intValue":1e300}'],
    ['1e21', '{"intValue":1e21}'],
    ['9223372036854775808', '{"intValue":9223372036854775808}'],
    ['a text with many digits', `{"intValue":"${'9'.repeat(100_000)}"}`],
  ])('with %s as an integer of LDV’s own attributes is refused', async (_what, given) => {
    const body = inRequest([written(TIMES, [`{"key":"dpl.n","value":${given}}`])]);
    expect((await log.send([], { form: 'json', body })).answer).toMatchObject({ rejectedSpans: 1 });
  });

  it('with 64-bit integers as numbers keeps every digit, and the last value of a repeated name', async () => {
    const person = newPerson();
    const body = inRequest([
      written('"startTimeUnixNano": 1775000000123456789,"endTimeUnixNano":1775000000123456790', [
        `{"key":"${DPL.subject}","value":{"stringValue":"${person}"}}`,
        '{"key":"app.n","value":{"intValue":1}}',
        '{"key":"app.n","value":{"intValue":-9223372036854775808,"intValue":9223372036854775807}}',
        '{"key":"app.text","value":{"stringValue":"\\"intValue\\":1775000000123456789}"}}',
      ]),
    ]);
    expect((await log.send([], { form: 'json', body })).answer).toMatchObject({ rejectedSpans: 0 });
    const [stored] = await linesOf(person);
    expect(stored).toMatchObject({ start: 1775000000123456789n, end: 1775000000123456790n });
    expect(stored?.attributes.get('app.n')).toBe(MAX);
    expect(stored?.attributes.get('app.text')).toBe('"intValue":1775000000123456789}');
  });

  it.each(['"ja"', '{}', '[]', 'true', '""'])('with %s as a double is refused', async (double) => {
    const body = inRequest([written(TIMES, [`{"key":"dpl.n","value":{"doubleValue":${double}}}`])]);
    const { status, answer } = await log.send([], { form: 'json', body });
    expect([status, answer?.rejectedSpans]).toEqual([200, 1]);
    expect(answer?.errorMessage).toContain('attributes dpl.n kan niet gelezen worden');
  });
});

/** Stores a line, and then turns it into one stored by an earlier release. */
async function storedBefore(change: (kept: string) => string): Promise<{ span: Span; id: string }> {
  const span = line({ attributes: { 'dpl.n': 4_711n, 'app.text': 'blijft' } });
  other.answer = () => ({ status: 503 });
  await log.send([span]);
  const keys = createIdentityKeys(KEY);
  const { rows } = await client.query(
    'select actie_id as id, ldv, key_name as key from verwerkingenlog.versies where verwerking_id = $1::uuid',
    [span.traceId],
  );
  const [{ id, ldv, key }] = rows;
  const changed = keys.encrypt(key, id, change(keys.decrypt(key, id, ldv)));
  await client.query('update verwerkingenlog.versies set ldv = $2 where actie_id = $1', [id, changed]);
  return { span, id };
}

describe('a line of an earlier release with an integer beyond 64 bits', () => {
  it.each([
    ['1e300', String(BigInt(1e300))],
    ['9223372036854775808', '9223372036854775808'],
  ])('is read completely, and is set aside when lines are forwarded: %s', async (_what, digits) => {
    const { span, id } = await storedBefore((kept) => kept.replace('"4711"', `"${digits}"`));
    const next = line();
    await log.send([next]);
    const [stored] = await linesOf(subjectIn(span));
    expect(stored?.attributes.get('dpl.n')).toBe(BigInt(digits));
    expect(stored?.attributes.get('app.text')).toBe('blijft');
    other.answer = () => undefined;
    await emptied();
    expect(other.taken.map(({ spanId }) => spanId)).toContain(next.spanId);
    expect(await issues()).toEqual([
      { soort: 'onverzendbaar', actie_id: id, reden: 'an integer in it does not fit in 64 bits' },
    ]);
    const listing = await koppelvlak(database.url, ['log', 'forward-issues', '--kind', 'onverzendbaar']);
    expect(listing.out).toContain(id);
    const metrics = async () => await (await fetch(`${log.server.managementUrl}/metrics`)).text();
    await expect.poll(metrics, PATIENT).toMatch(/^koppelvlak_ldv_forward_issues\{kind="onverzendbaar"\} 1$/m);
  });

  it('does not block forwarding when its stored data are unreadable', async () => {
    const { id } = await storedBefore((kept) => kept.slice(0, -1));
    const next = line();
    await log.send([next]);
    other.answer = () => undefined;
    await emptied();
    expect(other.taken.map(({ spanId }) => spanId)).toContain(next.spanId);
    expect(await issues()).toEqual([
      { soort: 'onleesbaar', actie_id: id, reden: 'it cannot be read: the log of the service says why' },
    ]);
  });
});

describe('an action at a time beyond 64-bit nanoseconds', () => {
  it.each(['1950-01-01T00:00:00Z', '0001-01-01T00:00:00Z'])(
    'of %s is set aside, and the next is forwarded',
    async (tijdstip) => {
      other.answer = () => ({ status: 503 });
      const early = actie(newPerson(), { tijdstip });
      const posted = await log.call(['create:normal'], 'POST', '/verwerkingsacties', early);
      const last = await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()));
      other.answer = () => undefined;
      await emptied();
      expect(other.taken.map(({ start }) => start)).not.toContain(BigInt(Date.parse(tijdstip)) * 1_000_000n);
      expect(other.taken.filter(({ name }) => name === 'Zoeken persoon')).toHaveLength(1);
      expect(actieIn(last).actieId).toBeDefined();
      expect(await issues()).toEqual([
        {
          soort: 'onverzendbaar',
          actie_id: actieIn(posted).actieId,
          reden: 'its time is outside the years 1970 to 2554, which nanoseconds of 64 bits hold',
        },
      ]);
    },
  );
});

describe("another logbook's answer", () => {
  it.each([
    ['a reason with NUL', { refuse: ['0'.repeat(16)], message: 'a\0b' }],
    ['an error with NUL', { status: 400, message: 'a\0b' }],
  ] as const)('does not block forwarding: %s', async (_what, answer) => {
    other.answer = (spans) => (spans.some(({ name }) => name === 'slecht') ? answer : undefined);
    await log.send([line({ name: 'slecht' })]);
    await emptied();
    await log.send([line({ name: 'goed' })]);
    await emptied();
    expect(other.taken.map(({ name }) => name)).toContain('goed');
    expect(await issues()).toMatchObject([{ soort: 'geweigerd', reden: expect.stringContaining('ab') }]);
  });

  it('does not block forwarding: more refusals than lines', async () => {
    other.answer = () => ({ refuse: [], count: 2 ** 40 });
    await log.send([line()]);
    await emptied();
    expect(await issues()).toMatchObject([{ soort: 'geweigerd' }]);
  });
});
