/** The sixteen rules of the statistics office, each with a file that follows it and files that break it. */
import { describe, expect, it } from 'vitest';
import { BSN, found, judge, message, shvLevering, traject, VS_VERSIONS, vsLevering, vsNames } from './support.ts';

const RECORD = '/leveringen/0/schuldhulptrajecten/0';
const ORGANISATION = '/leveringen/0/aanleverende_organisatie';
const municipality = { 'KvK-nummer': undefined, gemeentecode: 'GM0344' };

it('finds nothing in deliveries that follow all rules', async () => {
  for (const organisatie of [{}, municipality]) {
    const { status, report } = await judge('shv', message([shvLevering([traject()], organisatie)]));
    expect([status, found(report)]).toEqual([0, []]);
  }
  for (const version of VS_VERSIONS) {
    const { status, report } = await judge('vs', message([vsLevering(version)]), ['--model', version]);
    expect([version, status, found(report)]).toEqual([version, 0, []]);
  }
});

type Json = Record<string, unknown>;
const one = (more: Json): Json => message([shvLevering([traject(more)])]);
const client = (more: Json): Json => one({ client: [{ Burgerservicenummer: BSN[0], ...more }] });

/** Rule and name, a valid file, an invalid file, and the finding. */
const SHV: readonly (readonly [number, string, Json, Json, readonly string[]])[] = [
  [1, 'both', one({}), message([shvLevering([traject()], { gemeentecode: 'GM0344' })]), ['blocking', ORGANISATION]],
  [1, 'neither', one({}), message([shvLevering([traject()], { 'KvK-nummer': '' })]), ['blocking', ORGANISATION]],
  [
    ...[1, 'an invalid code', message([shvLevering([traject()], municipality)])],
    message([shvLevering([traject()], { ...municipality, gemeentecode: 'Onbekend' })]),
    ['blocking', `${ORGANISATION}/gemeentecode`],
  ] as const,
  [
    ...[1, 'an invalid number', one({})],
    message([shvLevering([traject()], { 'KvK-nummer': '1234' })]),
    ['blocking', `${ORGANISATION}/KvK-nummer`],
  ] as const,
  [2, 'blank', one({ gemeentecode: 'Onbekend' }), one({ gemeentecode: ' ' }), ['blocking', `${RECORD}/gemeentecode`]],
  [
    2,
    'a name',
    one({ gemeentecode: '0344' }),
    one({ gemeentecode: 'Utrecht' }),
    ['blocking', `${RECORD}/gemeentecode`],
  ],
  [
    ...[3, 'two municipalities in one levering'],
    message([shvLevering([traject(), traject({ gemeentecode: 'Onbekend' }, BSN[1])])]),
    message([shvLevering([traject(), traject({ gemeentecode: 'GM0345' }, BSN[1])])]),
    ['blocking', '/leveringen/0'],
  ] as const,
  [
    ...[3, 'a second levering for a municipality'],
    message([shvLevering([traject()]), shvLevering([traject({}, BSN[1])])]),
    message([
      shvLevering([traject()]),
      shvLevering([traject({ gemeentecode: '345' }, BSN[1])]),
      shvLevering([traject({}, BSN[2])]),
    ]),
    ['blocking', '/leveringen/2'],
  ] as const,
  [4, 'a code', one({}), { ...one({}), codeGegevensleverancier: 'GL987654' }, ['warning', '/codeGegevensleverancier']],
  [
    ...[4, 'no version', { ...one({}), codeGegevensleverancier: 'Pakket+2026.1' }],
    { ...one({}), codeGegevensleverancier: 'Pakket' },
    ['warning', '/codeGegevensleverancier'],
  ] as const,
  [
    ...[5, 'other dates', one({ intake: { startdatum: '2026-01-06' } })],
    one({ intake: { einddatum: '2026-01-09', beschikkingsdatum: '2026-01-08' } }),
    ['warning', `${RECORD}/intake/beschikkingsdatum`],
  ] as const,
  [5, 'one of them', one({}), one({ intake: { einddatum: '2026-01-09' } }), ['warning', `${RECORD}/intake/einddatum`]],
  [
    ...[6, 'not granted', one({ toekenningsdatum: undefined, schuldregeling: { dwangakkoord: false } })],
    one({ toekenningsdatum: undefined, schuldregeling: { dwangakkoord: true } }),
    ['blocking', `${RECORD}/schuldregeling/dwangakkoord`],
  ] as const,
  [
    ...[7, 'other names', one({ schulden: [{ schuldeiser: { privepersoon: true } }] })],
    one({ schulden: [{ bedrag: 1 }, { schuldeiser: { naam: 'A', Naam: 'B' } }] }),
    ['warning', `${RECORD}/schulden/1/schuldeiser/naam`],
  ] as const,
  [8, 'other dates', one({}), one({ toekenningsdatum: '2026-02-02' }), ['warning', `${RECORD}/toekenningsdatum`]],
  [
    ...[8, 'only granted', one({})],
    one({ toekenningsdatum: undefined }),
    ['warning', `${RECORD}/schuldregeling/toegekend`],
  ] as const,
  [
    ...[9, 'another value', client({ Geslachtsaanduiding: 'Leeg' }), client({ Geslachtsaanduiding: 'M' })],
    ['blocking', `${RECORD}/client/0/Geslachtsaanduiding`],
  ] as const,
  [
    10,
    'other dates',
    one({ einddatum: '2026-03-01', uitstroom: { datum: '2026-03-01', datumBeeindigingsbeschikking: '2026-03-01' } }),
    one({ einddatum: '2026-03-01', uitstroom: { datum: '2026-03-02', datumBeeindigingsbeschikking: '2026-03-01' } }),
    ['warning', `${RECORD}/uitstroom/datum`],
  ],
  [10, 'no outflow', one({}), one({ einddatum: '2026-03-01' }), ['warning', `${RECORD}/einddatum`]],
  [
    ...[11, 'no address', one({})],
    message([shvLevering([traject()], { contactpersonen: [{ naam: 'Jan Jansen' }] })]),
    ['blocking', ORGANISATION],
  ] as const,
  [
    11,
    'nobody',
    one({}),
    message([shvLevering([traject()], { contactpersonen: undefined })]),
    ['blocking', ORGANISATION],
  ],
  [
    ...[12, 'at the same time'],
    message([
      shvLevering([
        traject({ startdatum: '2025-01-01', einddatum: '2025-03-01' }),
        traject({ startdatum: '2025-03-02', omschrijving: 'later' }),
        traject({ startdatum: '2025-02-01', omschrijving: 'een ander' }, BSN[1]),
      ]),
    ]),
    message([shvLevering([traject(), traject({ startdatum: '2026-02-01' })])]),
    ['warning', '/leveringen/0/schuldhulptrajecten/1'],
  ] as const,
  [
    ...[14, 'end before begin', one({ begeleiding: [{ startdatum: '2026-01-01', einddatum: '2026-01-01' }] })],
    one({ begeleiding: [{ startdatum: '2026-01-02', einddatum: '2026-01-01' }] }),
    ['blocking', `${RECORD}/begeleiding/0/einddatum`],
  ] as const,
  [
    ...[14, 'in the future', one({ nazorg: { startdatum: '2026-02-01' } })],
    one({ nazorg: { startdatum: '2026-02-01', einddatum: '2999-01-01' } }),
    ['warning', `${RECORD}/nazorg/einddatum`],
  ] as const,
  [
    ...[14, 'born too late', client({ Geboortedatum: '2026-01-09' }), client({ Geboortedatum: '2026-01-10' })],
    ['blocking', `${RECORD}/client/0/Geboortedatum`],
  ] as const,
  [
    ...[14, 'a time of birth', client({ Geboortedatum: '2026-01-08T23:00:00Z' })],
    client({ Geboortedatum: '2026-01-09T23:00:00Z' }),
    ['blocking', `${RECORD}/client/0/Geboortedatum`],
  ] as const,
  [
    ...[14, 'a year of birth', client({ Geboortedatum: '2026-00-00' }), client({ Geboortedatum: '2027' })],
    ['blocking', `${RECORD}/client/0/Geboortedatum`],
  ] as const,
  [
    ...[16, 'after the period', one({ startdatum: '2026-03-31', aanmelding: {}, intake: {} })],
    one({ startdatum: '2026-04-01' }),
    ['blocking', `${RECORD}/startdatum`],
  ] as const,
  [
    ...[16, 'before the period', one({ startdatum: '2025-11-01', einddatum: '2026-01-01' })],
    one({ startdatum: '2025-11-01', einddatum: '2025-12-31' }),
    ['blocking', `${RECORD}/einddatum`],
  ] as const,
  [
    ...[15, 'a wrong digit', client({}), client({ Burgerservicenummer: '999990018' })],
    ['warning', `${RECORD}/client/0/Burgerservicenummer`],
  ] as const,
  [
    ...[15, 'a lost zero', client({ Burgerservicenummer: '' }), client({ Burgerservicenummer: '12345672' })],
    ['warning', `${RECORD}/client/0/Burgerservicenummer`],
  ] as const,
];

it.each(SHV)('SHV, rule %i, %s', async (rule, _name, keeps, breaks, finding) => {
  const kept = await judge('shv', keeps);
  expect(found(kept.report).filter((each) => Object(each)[0] === rule)).toEqual([]);
  const broken = await judge('shv', breaks);
  expect(found(broken.report)).toContainEqual([rule, ...finding]);
  expect(broken.status).toBe(finding[0] === 'blocking' ? 1 : 0);
});

it('SHV, rule 15, an equal record, whatever the order of its members', async () => {
  const { client: persons, ...rest } = traject();
  const twice = message([shvLevering([traject(), { client: persons, ...rest }])]);
  const { report } = await judge('shv', twice);
  expect(found(report)).toContainEqual([15, 'warning', '/leveringen/0/schuldhulptrajecten/1']);
});

it('SHV, rule 12: a record with the same client twice is not compared with itself', async () => {
  const person = { Burgerservicenummer: BSN[0] };
  // Rule 15 reports the duplicate.
  const { report } = await judge('shv', one({ client: [person, person] }));
  expect(found(report)).toEqual([[15, 'warning', '/leveringen/0/schuldhulptrajecten/0/client/1']]);
});

it('a trajectory without gemeentecode breaks the model and rule 2', async () => {
  const { status, report } = await judge('shv', one({ gemeentecode: undefined }));
  expect(status).toBe(1);
  expect(found(report)).toEqual([
    ['model', 'blocking', RECORD],
    [2, 'blocking', RECORD],
  ]);
  expect(report.municipalities).toMatchObject([{ gemeentecode: null, trajectories: 1 }]);
});

describe.each(VS_VERSIONS)('VS %s', (version) => {
  const names = vsNames(version);
  const signal = '/leveringen/0/vroegsignalen/0';
  const zaak = '/leveringen/0/vroegsignaalzaken/0';
  const organisation = `/leveringen/0/${names.organisatie}`;
  const report = async (...leveringen: readonly Json[]): Promise<unknown[]> =>
    found((await judge('vs', message(leveringen), ['--model', version])).report);

  it('rule 2: a levering is for a municipality', async () => {
    expect(await report(vsLevering(version, { gemeentecode: 'Onbekend' }))).toEqual([]);
    const blank = await report(vsLevering(version, { gemeentecode: '' }));
    expect(blank).toEqual([[2, 'blocking', '/leveringen/0/gemeentecode']]);
  });

  it('rule 3: one levering for each municipality', async () => {
    const other = vsLevering(version, { gemeentecode: '345', signaal: { ID: 'S2' }, client: { [names.bsn]: BSN[1] } });
    const again = vsLevering(version, {
      gemeentecode: 'GM345',
      signaal: { bedrag: 1 },
      zaak: { matchingsdatum: '2026-01-12' },
    });
    expect(await report(vsLevering(version), other)).not.toContainEqual(expect.arrayContaining([3]));
    expect(await report(vsLevering(version), other, again)).toContainEqual([3, 'blocking', '/leveringen/2']);
  });

  it('rule 4: name and version', async () => {
    const broken = message([vsLevering(version)], { codeGegevensleverancier: 'SOFTLEVERANCIER-XYZ' });
    const { report: own } = await judge('vs', broken, ['--model', version]);
    expect(found(own)).toEqual([[4, 'warning', '/codeGegevensleverancier']]);
  });

  it.runIf(version !== '1.0')('rule 9: sex', async () => {
    const address = { [names.bsn]: undefined, [names.postcode]: '1234AB', [names.huisnummer]: '1' };
    const keeps = vsLevering(version, { client: { ...address, [names.geslacht]: 'Leeg' } });
    expect(await report(keeps)).toEqual([]);
    const breaks = vsLevering(version, { client: { ...address, [names.geslacht]: 'man' } });
    expect(await report(breaks)).toContainEqual([9, 'blocking', `${signal}/client/${names.geslacht}`]);
  });

  it('rule 11: a contact with an address', async () => {
    const breaks = vsLevering(version, { organisatie: { [names.contacten]: [{ naam: 'Jan' }] } });
    expect(await report(breaks)).toEqual([[11, 'blocking', organisation]]);
  });

  it('rule 13: cases were taken up, on the day that they began', async () => {
    const waiting = vsLevering(version, { signaal: { status: 'Nog niet opgepakt' } });
    expect(await report(waiting)).toEqual([[13, 'warning', `${zaak}/vroegsignalen/0`]]);
    // In a file the cases may come first.
    const { vroegsignaalzaken, ...rest } = waiting;
    expect(await report({ vroegsignaalzaken, ...rest })).toEqual([[13, 'warning', `${zaak}/vroegsignalen/0`]]);
    const early = vsLevering(version, { zaak: { contactpogingen: [{ datum: '2026-01-14' }] } });
    expect(await report(early)).toEqual([[13, 'warning', `${zaak}/contactpogingen/0/datum`]]);
    const undated = vsLevering(version, { zaak: { [names.opgepakt]: undefined } });
    expect(await report(undated)).toEqual([[13, 'warning', zaak]]);
    const left = { [names.opgepakt]: undefined, resultaat: 'Niet opgepakt: andere reden' };
    expect(await report(vsLevering(version, { zaak: left }))).toEqual([]);
    const deceased = vsLevering(version, { signaal: { status: 'Inwoner is overleden' } });
    expect(await report(deceased)).toEqual([]);
  });

  it('rule 14: dates in order', async () => {
    const turned = vsLevering(version, { zaak: { [names.einde]: '2026-01-09' } });
    expect(await report(turned)).toEqual([[14, 'blocking', `${zaak}/${names.einde}`]]);
    const future = vsLevering(version, { signaal: { signaaldatum: '2999-01-01' } });
    expect(await report(future)).toEqual([
      [16, 'blocking', `${signal}/signaaldatum`],
      [14, 'warning', `${signal}/signaaldatum`],
    ]);
    const born = {
      [names.bsn]: undefined,
      [names.postcode]: '1234AB',
      [names.huisnummer]: '1',
      [names.geboren]: '2026-02-01',
    };
    const unborn = vsLevering(version, { client: born });
    expect(await report(unborn)).toEqual([[14, 'blocking', `${signal}/client/${names.geboren}`]]);
  });

  it('rule 16: a signal or its case is of the period', async () => {
    const [day, place] = [`${signal}/signaaldatum`, 16];
    const alone = (signaaldatum: string) => ({
      ...vsLevering(version, { signaal: { signaaldatum } }),
      vroegsignaalzaken: [],
    });
    const dated = (signaaldatum: string, begin: string, more: Json = {}) =>
      vsLevering(version, {
        signaal: { ontstaansdatum: undefined, signaaldatum },
        zaak: { [names.begin]: begin, [names.einde]: undefined, [names.opgepakt]: begin, contactpogingen: [], ...more },
      });
    for (const inside of ['2026-01-01', '2026-03-31']) expect(await report(alone(inside))).toEqual([]);
    expect(await report(alone('2026-04-01'))).toContainEqual([place, 'blocking', day]);
    expect(await report({ ...alone('2025-12-31'), vroegsignaalzaken: [] })).toContainEqual([place, 'blocking', day]);
    // Its case is active in the period: without a result, or with an attempt in it.
    expect(await report(dated('2025-12-01', '2025-12-10'))).toEqual([]);
    const over = { resultaat: 'Geen reactie na eerder contact' };
    const tried = { ...over, contactpogingen: [{ datum: '2026-01-02' }] };
    expect(await report(dated('2025-12-01', '2025-12-10', tried))).toEqual([]);
    expect(await report(dated('2025-12-01', '2025-12-10', over))).toEqual([[place, 'blocking', day, zaak]]);
    // Taken up after the period, with a signal in the period.
    expect(await report(dated('2026-03-30', '2026-04-02'))).toEqual([]);
    expect(await report(dated('2026-04-01', '2026-04-02'))).toEqual([[place, 'blocking', day, zaak]]);
  });

  it('rule 15: numbers and equal records', async () => {
    const wrong = vsLevering(version, { client: { [names.bsn]: '999990018' } });
    expect(await report(wrong)).toEqual([[15, 'warning', `${signal}/client/${names.bsn}`]]);
    const levering = vsLevering(version);
    const signals = levering.vroegsignalen;
    // IDs are scoped to one levering.
    const elsewhere = { ...levering, gemeentecode: '345' };
    expect(await report(levering, elsewhere)).toEqual([]);
    const twice = { ...levering, vroegsignalen: Array.isArray(signals) ? [...signals, ...signals] : [] };
    expect(await report(twice)).toEqual([[15, 'warning', '/leveringen/0/vroegsignalen/1']]);
  });
});
