/** Lines about objects, errors and healthcare, as in the extensions and the guidance of LDV. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createIdentityKeys, reveal } from '../../../src/verwerkingenlog/domain/encryption.ts';
import { spansOf } from '../../../src/verwerkingenlog/ldv/mapping.ts';
import { type AttributeValue, DPL, type Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { readLdvOf } from '../../../src/verwerkingenlog/ldv/stored-line.ts';
import { readHistory } from '../../../src/verwerkingenlog/store/versions.ts';
import { KEY } from '../support.ts';
import { ACTIVITY_URL, FORMS, type LdvServer, line, startLdv, subjectIn } from './support.ts';

let log: LdvServer;
beforeAll(async () => {
  log = await startLdv();
});
afterAll(() => log.stop());

const NONE = { [DPL.activity]: undefined, [DPL.subject]: undefined, [DPL.subjectType]: undefined };
const OBJECTS = {
  'dpl.objects.algorithm_id': 'https://algoritmes.overheid.nl/nl/algoritme/1',
  'dpl.objects.dataset': [
    new Map<string, AttributeValue>([
      ['dataset_id', 'percelen'],
      ['feature', [201n, 203n]],
    ]),
  ],
};

/** The stored line, and its action. */
async function stored(set: LdvServer, { traceId }: Span) {
  const client = new pg.Client(set.server.databaseUrl);
  await client.connect();
  const { rows } = await client.query('select actie_id from verwerkingenlog.versies where verwerking_id = $1::uuid', [
    traceId,
  ]);
  const [versie] = rows.length === 1 ? await readHistory(client, rows[0].actie_id) : [];
  await client.end();
  return versie === undefined ? undefined : await reveal(versie, createIdentityKeys(KEY));
}

it.each(FORMS)('is accepted when it is about objects, and those are returned: %s', async (form) => {
  const set = await startLdv({ env: { LDV_UNKNOWN_ACTIVITY: 'refuse' }, tokens: log.tokens });
  const span = line({ attributes: { ...NONE, ...OBJECTS } });
  const withPerson = line({ attributes: { [DPL.activity]: undefined, ...OBJECTS } });
  expect((await set.send([span, withPerson], { form })).answer).toEqual({ rejectedSpans: 0, errorMessage: '' });
  const versie = await stored(set, span);
  if (versie === undefined) throw new Error('no version');
  expect(versie).toMatchObject({ vertrouwelijkheid: 'normaal', verwerkingsactiviteitUrl: null, objecten: [] });
  expect(spansOf(versie, 'https://log.example')).toEqual([span]);
  expect((await stored(set, withPerson))?.objecten).toMatchObject([{ objectId: subjectIn(withPerson) }]);
  expect(await (await fetch(`${set.server.managementUrl}/metrics`)).text()).toContain(
    'koppelvlak_ldv_unknown_activity_total 0',
  );
  await set.stop();
});

it("is accepted when it describes an error in the standard's form, without the persons in it", async () => {
  const set = await startLdv({ env: { LDV_UNKNOWN_ACTIVITY: 'refuse' }, tokens: log.tokens });
  const error = {
    'exception.message': 'HTTP 500 error processing /personen/999990019',
    'exception.type': 'TimeoutException',
    'exception.stacktrace': `TimeoutException: ${'at een.functie()\n'.repeat(4000)}`,
  };
  const span = line({ status: 'Error', attributes: { ...NONE, ...error, 'http.route': '/personen' } });
  const person = line({ attributes: { [DPL.activity]: undefined, ...error } });
  const { answer } = await set.send([span, person]);
  expect(answer?.errorMessage).toBe(
    `1 regel is geweigerd; trace ${person.traceId}, span ${person.spanId}: dpl.core.processing_activity_id ontbreekt`,
  );
  expect((await set.send([span])).answer?.rejectedSpans).toBe(0);
  const versie = await stored(set, span);
  const attributes = readLdvOf({ ldv: versie?.ldv ?? null })?.span.attributes;
  expect([...(attributes?.keys() ?? [])]).toEqual(Object.keys(error));
  expect(attributes?.get('exception.message')).toBe('HTTP 500 error processing /personen/*********');
  expect(attributes?.get('exception.type')).toBe('TimeoutException');
  expect(attributes?.get('exception.stacktrace')).toMatch(/^TimeoutException: at een[\s\S]{3900,4090}…$/);
  const other = { ...span, attributes: new Map([...span.attributes, ['exception.type', 'Other'] as const]) };
  expect((await set.send([other])).answer?.errorMessage).toContain('al een andere regel');
  await set.stop();
});

it('is accepted without the persons in an error that is not a text', async () => {
  const span = line({
    attributes: {
      'exception.message': ['bij 999990019', new Map<string, AttributeValue>([['bsn', 999990019n]])],
      'exception.type': 999990019n,
    },
  });
  expect((await log.send([span])).answer?.rejectedSpans).toBe(0);
  const attributes = readLdvOf({ ldv: (await stored(log, span))?.ldv ?? null })?.span.attributes;
  expect(attributes?.get('exception.message')).toBe(
    '{"arrayValue":{"values":[{"stringValue":"bij *********"},{"kvlistValue":{"values":[{"key":"bsn","value":{"intValue":"*********"}}]}}]}}',
  );
  expect(attributes?.get('exception.type')).toBe('{"intValue":"*********"}');
});

it('is ignored where other spans are, when it only describes an error', async () => {
  const set = await startLdv({ env: { LDV_OTHER_SPANS: 'ignore' }, tokens: log.tokens });
  const span = line({ attributes: { ...NONE, 'exception.type': 'TimeoutException' } });
  const objects = line({ attributes: { ...NONE, ...OBJECTS } });
  expect((await set.send([span, objects])).answer?.rejectedSpans).toBe(0);
  expect([await stored(set, span), (await stored(set, objects))?.versie]).toEqual([undefined, 1]);
  await set.stop();
});

it('is refused with unknown attributes of the core namespace', async () => {
  const misspelled = 'dpl.core.procsssing_activity_id';
  const span = line({
    attributes: { [DPL.activity]: undefined, [misspelled]: ACTIVITY_URL, 'dpl.core.999990019': 'x' },
  });
  const { answer } = await log.send([span]);
  expect(answer?.errorMessage).toBe(
    `1 regel is geweigerd; trace ${span.traceId}, span ${span.spanId}: dpl.core.processing_activity_id ontbreekt (onbekend: ${misspelled}, (een andere naam))`,
  );
});

it('keeps the resource attributes that NEN 7513 names', async () => {
  const span = line({
    resource: { 'nen7513.AuditSourceId': 42n, 'nen7513.AuditSourceTypeCode': 'comp1', 'host.id': 'x' },
  });
  expect((await log.send([span])).answer?.rejectedSpans).toBe(0);
  const kept = readLdvOf({ ldv: (await stored(log, span))?.ldv ?? null })?.span.resource;
  expect([...(kept ?? [])]).toEqual([
    ['service.name', 'Balie'],
    ['nen7513.AuditSourceId', 42n],
    ['nen7513.AuditSourceTypeCode', 'comp1'],
  ]);
});

it.each(['dpl.core.999.990.019', 'dpl.core.99999-0019', 'dpl.core.٩٩٩٩٩٠٠١٩'])(
  "is refused without naming an attribute whose name may contain a person's number: %s",
  async (name) => {
    const { answer } = await log.send([line({ attributes: { [DPL.activity]: undefined, [name]: 'x' } })]);
    expect(answer?.errorMessage).toMatch(/ontbreekt \(onbekend: \(een andere naam\)\)$/);
  },
);
