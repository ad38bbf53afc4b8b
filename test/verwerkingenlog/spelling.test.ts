/** A citizen is found however an application wrote the type and the number: no spelling makes an entry disappear. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InzageServer, newBsn, startInzage } from './inzage/support.ts';
import { actie, actieIn, type List, listIn } from './support.ts';

let log: InzageServer;
beforeAll(async () => {
  log = await startInzage({ env: { VERWERKINGENLOG_CHECK_BSN: 'true' } });
});
afterAll(() => log.stop());

const ZERO_WIDTH = '\u200b';
const fullWidth = (text: string): string =>
  text.replaceAll(/[!-~]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0));

/** A number with a leading zero, which spreadsheets drop. */
function bsnWithZero(): string {
  for (;;) {
    const digits = `0${String(Math.floor(1_000_000 + Math.random() * 8_999_999))}`;
    const sum = [...digits].reduce((total, digit, i) => total + Number(digit) * (9 - i), 0);
    if (sum % 11 < 10) return `${digits}${sum % 11}`;
  }
}

const KINDS: readonly string[] = [
  ...['BSN', 'bsn', ' BSN', 'BSN ', 'B.S.N.', 'b.s.n', 'BSN:', 'B S N', 'Burgerservicenummer', 'burgerServiceNummer'],
  ...[
    'SOFI',
    'Sofi-nummer',
    '2.16.840.1.113883.2.4.6.3',
    'urn:oid:2.16.840.1.113883.2.4.6.3',
    'URN:OID:2.16.840.1.113883.2.4.6.3',
  ],
  'http://fhir.nl/fhir/NamingSystem/bsn',
  ...[fullWidth('BSN'), `B${ZERO_WIDTH}SN`, 'BSN\u00a0', 'B\u00adSN'],
];
const NUMBERS: readonly ((bsn: string) => string)[] = [
  (bsn) => bsn,
  (bsn) => bsn.slice(1),
  (bsn) => bsn.replace(/^(\d{4})(\d{2})(\d{3})$/, '$1.$2.$3'),
  (bsn) => bsn.replace(/^(\d{4})(\d{2})(\d{3})$/, '$1 $2 $3'),
  (bsn) => ` ${bsn} `,
  (bsn) => fullWidth(bsn),
  // Arabic-Indic, Persian and Devanagari.
  ...[0x0660, 0x06f0, 0x0966].map(
    (zero) => (bsn: string) => bsn.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit))),
  ),
  (bsn) => `${bsn.slice(0, 4)}${ZERO_WIDTH}${bsn.slice(4)}`,
];

async function post(soortObjectId: string, objectId: string, wishes: Record<string, unknown> = {}): Promise<string> {
  const [object] = actie(objectId).verwerkteObjecten;
  const body = actie(objectId, { ...wishes, verwerkteObjecten: [{ ...object, soortObjectId }] });
  return actieIn(await log.call(['create:normal'], 'POST', '/verwerkingsacties', body)).actieId;
}

const foundAs = async (soortObjectId: string, objectId: string): Promise<List['results']> =>
  listIn(
    await log.call(
      ['read:restricted'],
      'GET',
      `/verwerkingsacties?${new URLSearchParams({ objecttype: 'persoon', soortObjectId, objectId })}`,
    ),
  ).results;

describe('a person', () => {
  it('is found by the citizen in every spelling, each returned as it was logged', async () => {
    const bsn = bsnWithZero();
    const logged = new Map<string, readonly [string, string]>();
    for (const kind of KINDS) logged.set(await post(kind, bsn), [kind, bsn]);
    for (const write of NUMBERS.slice(1)) logged.set(await post('BSN', write(bsn)), ['BSN', write(bsn)]);
    const found = await foundAs('BSN', bsn);
    const spelled = found.map(({ actieId, verwerkteObjecten }) => {
      const [object] = Array.isArray(verwerkteObjecten) ? verwerkteObjecten : [];
      return [actieId, [object.soortObjectId, object.objectId]];
    });
    expect(spelled.filter(([id]) => logged.has(String(id))).toSorted()).toEqual([...logged].toSorted());
    const citizen = await log.loggedIn(bsn);
    const { text } = await citizen.open('/inzage/overzicht.json');
    for (const id of logged.keys()) expect(text).toContain(id);
    // And by a caller that uses another spelling.
    for (const kind of KINDS) expect((await foundAs(kind, bsn)).length).toBeGreaterThanOrEqual(logged.size);
    for (const write of NUMBERS) expect((await foundAs('bsn', write(bsn))).length).toBeGreaterThanOrEqual(logged.size);
  });

  it('differs from one with another number, or of another type', async () => {
    const bsn = newBsn();
    await post('Klantnummer', bsn);
    await post('BSN', newBsn());
    await post('KLANT.NUMMER', `${bsn}0`);
    const other = await post('klant nummer', bsn);
    expect(await foundAs('BSN', bsn)).toEqual([]);
    expect((await foundAs('KlantNummer', bsn)).map(({ actieId }) => actieId)).toContain(other);
  });

  it('keeps one object over changes with different spellings, and is checked by the eleven test in each', async () => {
    const bsn = newBsn();
    const id = await post('B.S.N.', bsn);
    const stored = async () => (await foundAs('BSN', bsn)).find(({ actieId }) => actieId === id);
    const before = await stored();
    const [object] = actie(bsn).verwerkteObjecten;
    const body = actie(bsn, { verwerkteObjecten: [object] });
    const changed = await log.call(['update:normal'], 'PUT', `/verwerkingsacties/${id}`, body);
    expect(changed.status).toBe(200);
    const after = await stored();
    const objectOf = (one: List['results'][number] | undefined): unknown =>
      Array.isArray(one?.verwerkteObjecten) ? one.verwerkteObjecten[0].verwerktObjectId : undefined;
    expect(objectOf(after)).toBe(objectOf(before));
    const wrong = actie('123.456.789', {
      verwerkteObjecten: [{ ...object, soortObjectId: 'B.S.N.', objectId: '123.456.780' }],
    });
    expect((await log.call(['create:normal'], 'POST', '/verwerkingsacties', wrong)).status).toBe(400);
  });
});
