import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Actie,
  eersteVersie,
  newActieId,
  replaced,
  type Versie,
} from '../../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import {
  actieOfSpan,
  type LineContext,
  MAX_TEXT,
  spansOf,
  traceIdOf,
} from '../../../src/verwerkingenlog/ldv/mapping.ts';
import type { KeptAttributes } from '../../../src/verwerkingenlog/ldv/request.ts';
import {
  type Attributes,
  type AttributeValue,
  DPL,
  type Span,
  STATUSES,
} from '../../../src/verwerkingenlog/ldv/span.ts';
import { contentOf, keptAttributes, writeLine } from '../../../src/verwerkingenlog/ldv/stored-line.ts';
import { decodeRequest, encodeRequest } from './otlp-forms.ts';
import { FORMS } from './support.ts';

const AUTEUR = { door: 'client', verzoekId: 'verzoek' };
const BASE = 'https://log.example/verwerkingenlog/v1';
const CONTEXT: LineContext = {
  vertrouwelijkheid: 'normaal',
  bewaartermijn: 'P5Y',
  verwerkingNaam: 'Uitkeren',
  uitvoerder: null,
};
const NOTHING_ELSE = keptAttributes([]);

/** The span as the intake reads it. */
function keepOf(span: Span, { ofSpan, ofResource }: KeptAttributes): Span {
  const only = (attributes: Attributes, isKept: (name: string) => boolean) =>
    new Map([...attributes].filter(([name]) => isKept(name)));
  return { ...span, resource: only(span.resource, ofResource), attributes: only(span.attributes, ofSpan) };
}

const hex = (digits: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`)).filter((text) => !/^0+$/.test(text));
const text = (maxLength: number) =>
  fc.string({ unit: 'grapheme', minLength: 1, maxLength }).filter((t) => !t.includes('\0'));
const moment = fc.bigInt({ min: 946_684_800_000_000_000n, max: 4_000_000_000_000_000_000n });

const { value: attributeValue } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
    text(20),
    fc.boolean(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.double({ noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
    fc.uint8Array({ maxLength: 8 }),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(text(8), tie('value')), { maxLength: 3 }).map((entries): Attributes => new Map(entries)),
  ),
}));

const attributes = (names: fc.Arbitrary<string>) =>
  fc.array(fc.tuple(names, attributeValue), { maxLength: 4 }).map((entries): Attributes => new Map(entries));

const spans: fc.Arbitrary<Span> = fc
  .record({
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: fc.option(hex(16), { nil: undefined }),
    name: text(400),
    start: moment,
    length: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    status: fc.constantFrom(...STATUSES),
    activity: fc.oneof(
      fc.webUrl(),
      fc.uuid().map((id) => `https://register.example/${id}`),
      fc.uuid(),
    ),
    subject: fc.option(
      fc.tuple(text(80), fc.constantFrom('BSN', 'bsn', 'Bsn', 'pseudoniem', 'https://types.example/x', undefined)),
      {
        nil: undefined,
      },
    ),
    processor: fc.option(fc.constantFrom('https://a.example/app', 'https://a.example/00000099000000002000'), {
      nil: undefined,
    }),
    resource: attributes(fc.constantFrom('service.name', 'service.version', 'service.x')),
    more: attributes(text(8).map((name) => `dpl.${name}`)),
  })
  .map(({ parentSpanId, length, activity, subject, processor, more, ...span }) => ({
    ...span,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    end: span.start + length,
    attributes: new Map<string, AttributeValue>([
      ...more,
      [DPL.activity, activity],
      ...(subject === undefined ? [] : ([[DPL.subject, subject[0]]] as const)),
      ...(subject?.[1] === undefined ? [] : ([[DPL.subjectType, subject[1]]] as const)),
      ...(processor === undefined ? [] : ([[DPL.processor, processor]] as const)),
    ]),
  }));

const REGISTERED = '2026-04-01T12:00:00Z';

function versieOf(span: Span): Versie {
  const at = new Date(REGISTERED);
  const kept = keepOf(span, NOTHING_ELSE);
  return eersteVersie(
    actieOfSpan(kept, CONTEXT),
    newActieId(at),
    REGISTERED,
    AUTEUR,
    writeLine({ client: 'client', span: kept }),
  );
}

it('returns a span unchanged that was stored as an action', () => {
  fc.assert(
    fc.property(spans, (span) => {
      expect(spansOf(versieOf(span), BASE)).toEqual([span]);
    }),
  );
});

it.each(FORMS)('writes and reads every span in %s', async (form) => {
  await fc.assert(
    fc.asyncProperty(fc.array(spans, { maxLength: 4 }), async (given) => {
      const read = await decodeRequest(encodeRequest(given, form), form);
      const sorted = (list: readonly Span[]) => list.map(contentOf).toSorted();
      expect(sorted(read)).toEqual(sorted(given));
    }),
  );
});

const opt = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const acties: fc.Arbitrary<Actie> = fc.record({
  actieNaam: opt(text(60)),
  handelingNaam: opt(text(60)),
  verwerkingNaam: opt(text(60)),
  verwerkingId: opt(hex(32).map((digits) => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))),
  verwerkingsactiviteitId: opt(fc.uuid()),
  verwerkingsactiviteitUrl: opt(fc.webUrl()),
  vertrouwelijkheid: fc.constantFrom('normaal' as const, 'vertrouwelijk' as const),
  bewaartermijn: opt(fc.constant('P7Y')),
  uitvoerder: opt(fc.constant('00000099000000001000')),
  systeem: opt(text(60)),
  gebruiker: opt(text(40)),
  gegevensbron: opt(text(60)),
  soortAfnemerId: opt(fc.constantFrom('OIN', 'BSN')),
  afnemerId: opt(fc.constantFrom('00000099000000002000', '999990019')),
  verwerkingsactiviteitIdAfnemer: opt(fc.uuid()),
  verwerkingsactiviteitUrlAfnemer: opt(fc.webUrl()),
  verwerkingIdAfnemer: opt(fc.uuid()),
  tijdstip: fc
    .integer({ min: 946_684_800, max: 4_000_000_000 })
    .map((s) => new Date(s * 1000).toISOString().replace('.000Z', 'Z')),
  tijdstipOffset: fc.constant(null),
  verwerkteObjecten: fc.array(
    fc.record({
      soortObjectId: fc.constantFrom('BSN', 'KvK', 'onbekend'),
      objectId: fc.stringMatching(/^[A-Z]{12}$/),
      betrokkenheid: opt(text(20)),
      soortenGegevens: opt(fc.array(text(20), { maxLength: 3 })),
    }),
    { maxLength: 4 },
  ),
});

it('keeps a UUID in an address even if it contains nine digits of a citizen service number', () => {
  const verwerkingsactiviteitUrl = `${BASE}/verwerkingsactiviteiten/00000000-0000-1000-bfff-ffe400000003?bsn=400000003`;
  const [example] = fc.sample(acties, { numRuns: 1, seed: 1 });
  if (example === undefined) throw new Error('no action');
  const at = new Date(REGISTERED);
  const [span] = spansOf(
    eersteVersie({ ...example, verwerkingsactiviteitUrl }, newActieId(at), REGISTERED, AUTEUR),
    BASE,
  );
  if (span === undefined) throw new Error('no span');
  expect(actieOfSpan(span, CONTEXT).verwerkingsactiviteitUrl).toBe(
    `${BASE}/verwerkingsactiviteiten/00000000-0000-1000-bfff-ffe400000003?bsn=*********`,
  );
});

it('keeps of an action that passes through LDV the fields that LDV has, and never the user', () => {
  fc.assert(
    fc.property(acties, (actie) => {
      const at = new Date(REGISTERED);
      const versie = eersteVersie(actie, newActieId(at), REGISTERED, AUTEUR);
      const made = spansOf(versie, BASE);
      const [root] = made;
      if (root === undefined) throw new Error('no span');
      expect(made).toHaveLength(actie.verwerkteObjecten.length > 1 ? actie.verwerkteObjecten.length + 1 : 1);
      expect(new Set(made.map(({ spanId }) => spanId)).size).toBe(made.length);
      for (const child of made.slice(1)) expect(child.parentSpanId).toBe(root.spanId);
      for (const { attributes: of } of made)
        expect([...of.keys()].every((name) => /^(dpl\.core|koppelvlak\.verwerkingsactie)\./.test(name))).toBe(true);
      const back = made.map((span) => actieOfSpan(span, CONTEXT));
      const [first] = back;
      expect(first).toMatchObject({
        tijdstip: actie.tijdstip,
        gebruiker: null,
        verwerkingId: actie.verwerkingId ?? expect.any(String),
        verwerkingsactiviteitUrl:
          actie.verwerkingsactiviteitUrl ??
          (actie.verwerkingsactiviteitId === null
            ? null
            : `${BASE}/verwerkingsactiviteiten/${actie.verwerkingsactiviteitId}`),
      });
      const persons = back.flatMap(({ verwerkteObjecten }) => verwerkteObjecten);
      const named = ({ soortObjectId, objectId }: { soortObjectId: string; objectId: string }) => [
        soortObjectId,
        objectId,
      ];
      expect(persons.map(named)).toEqual(actie.verwerkteObjecten.map(named));
      if (actie.gebruiker !== null && actie.gebruiker.length > 12) {
        expect(made.some(({ attributes: of }) => [...of.values()].includes(actie.gebruiker))).toBe(false);
      }
    }),
  );
});

it('derives the ids of an action’s spans as published', () => {
  const [actie] = fc.sample(acties, { numRuns: 1, seed: 1 });
  if (actie === undefined) throw new Error('no action');
  const person = { soortObjectId: 'BSN', objectId: '1', betrokkenheid: null, soortenGegevens: null };
  const versie = eersteVersie(
    { ...actie, verwerkingId: null, verwerkteObjecten: [person] },
    '0198c0de-7c1e-7aa0-9b1c-3d5e7f900000',
    REGISTERED,
    AUTEUR,
  );
  const [span] = spansOf(versie, BASE);
  // printf 'ldv-span:0198c0de-7c1e-7aa0-9b1c-3d5e7f900000/0198c0de-7c1e-7aa0-9b1c-3d5e7f900001' | sha256sum
  expect(span?.spanId).toBe('a26b2c9f5e43079c');
  // printf 'ldv-trace:0198c0de-7c1e-7aa0-9b1c-3d5e7f900000' | sha256sum
  expect(span?.traceId).toBe('54302d9aed9ca528afb41260231be461');
  expect(traceIdOf({ ...versie, verwerkingId: '00000000-0000-0000-0000-000000000000' })).toBe(span?.traceId);
  expect(traceIdOf({ ...versie, verwerkingId: '48086bf2-11b7-4603-9526-67d7c3bb6587' })).toBe(
    '48086bf211b74603952667d7c3bb6587',
  );
});

const SPAN: Span = {
  traceId: '48086bf211b74603952667d7c3bb6587',
  spanId: '00f067aa0ba902b7',
  name: 'Zoeken',
  start: 1_775_000_000_123_456_789n,
  end: 1_775_000_000_987_654_321n,
  status: 'Ok',
  resource: new Map([
    ['service.name', 'Balie'],
    ['service.version', '2.1'],
    ['host.name', 'h'],
  ]),
  attributes: new Map([
    [DPL.activity, 'https://register.example/5f0bef4c-f66f-4311-84a5-19e8bf359eaf'],
    [DPL.subject, '999990019'],
    [DPL.subjectType, 'bsn'],
    [DPL.processor, 'https://gemeente.example/00000099000000002000/app'],
    ['db.statement', 'select 999990019'],
    ['app.zaak', 'Z-1'],
  ]),
};

it('maps a line field by field', () => {
  expect(actieOfSpan(SPAN, { ...CONTEXT, uitvoerder: '00000099000000001000' })).toEqual({
    actieNaam: 'Zoeken',
    handelingNaam: null,
    verwerkingNaam: 'Uitkeren',
    verwerkingId: '48086bf2-11b7-4603-9526-67d7c3bb6587',
    verwerkingsactiviteitId: '5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
    verwerkingsactiviteitUrl: 'https://register.example/5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
    vertrouwelijkheid: 'normaal',
    bewaartermijn: 'P5Y',
    uitvoerder: '00000099000000001000',
    systeem: 'Balie 2.1',
    gebruiker: null,
    gegevensbron: null,
    soortAfnemerId: 'OIN',
    afnemerId: '00000099000000002000',
    verwerkingsactiviteitIdAfnemer: null,
    verwerkingsactiviteitUrlAfnemer: null,
    verwerkingIdAfnemer: null,
    tijdstip: '2026-03-31T23:33:20.123Z',
    tijdstipOffset: null,
    verwerkteObjecten: [{ soortObjectId: 'BSN', objectId: '999990019', betrokkenheid: null, soortenGegevens: null }],
  });
});

it.each(FORMS)('keeps the attributes of LDV and the service, and those that the operator lists: %s', async (form) => {
  const read = async (...names: string[]): Promise<Span> => {
    const [span] = await decodeRequest(encodeRequest([SPAN], form), form, keptAttributes(names));
    if (span === undefined) throw new Error('no span');
    return span;
  };
  const plain = await read();
  expect([...plain.attributes.keys()].every((name) => name.startsWith('dpl.'))).toBe(true);
  expect([...plain.resource.keys()]).toEqual(['service.name', 'service.version']);
  const more = await read('app.*', 'host.name');
  expect(more.attributes.get('app.zaak')).toBe('Z-1');
  expect(more.attributes.has('db.statement')).toBe(false);
  expect(more.resource.get('host.name')).toBe('h');
  expect(contentOf(more)).toBe(contentOf(plain));
});

it('keeps identifiers out of the texts that an action stores in plain form, and shortens those texts', () => {
  const name = `Zoeken 999990019 en 123456782 ${'lang '.repeat(80)}`;
  const versie = versieOf({ ...SPAN, name, attributes: new Map([...SPAN.attributes, [DPL.subject, 'PSEUDONIEM-7']]) });
  expect(versie.actieNaam).toHaveLength(MAX_TEXT);
  expect(versie.actieNaam).not.toMatch(/999990019|123456782/);
  expect(spansOf(versie, BASE)[0]?.name).toBe(name);
  const named = actieOfSpan(
    { ...SPAN, name: 'van PSEUDONIEM-7', attributes: versieAttributes('PSEUDONIEM-7') },
    CONTEXT,
  );
  expect(named.actieNaam).toBe('van *********');
});

function versieAttributes(subject: string): Attributes {
  return new Map([
    [DPL.activity, 'https://register.example/a'],
    [DPL.subject, subject],
  ]);
}

it('returns changed fields of an action, and unchanged ones as they came', () => {
  const first = versieOf(SPAN);
  const { objecten } = first;
  const changed = replaced(
    first,
    {
      ...first,
      actieNaam: 'Verbeterd',
      verwerkteObjecten: [
        ...objecten,
        { ...objecten[0], objectId: 'ander', soortObjectId: 'X', betrokkenheid: null, soortenGegevens: null },
      ],
    },
    1,
    new Date('2026-04-02T12:00:00Z'),
    AUTEUR,
  );
  const [root, one, two, ...others] = spansOf(changed, BASE);
  expect(others).toEqual([]);
  expect(root).toMatchObject({
    name: 'Verbeterd',
    spanId: SPAN.spanId,
    start: SPAN.start,
    end: SPAN.end,
    status: 'Ok',
  });
  expect(root?.attributes.has(DPL.subject)).toBe(false);
  expect(one?.attributes.get(DPL.subject)).toBe('999990019');
  expect(two?.attributes.get(DPL.subject)).toBe('ander');
});
