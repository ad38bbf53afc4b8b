import { describe, expect, it } from 'vitest';
import { compileDocument, faultsOf, readRules } from './contract-schemas.ts';

const compile = compileDocument(readRules('verwerkingenlog.yaml'));
const invoer = compile('#/components/schemas/VerwerkingsactieInvoer');
const volledig = compile('#/components/schemas/VerwerkingsactieVolledig');
const wijziging = compile('#/components/schemas/VerwerkingsactieWijziging');

const smallest = { vertrouwelijkheid: 'normaal', tijdstip: '2026-01-15T14:35:42+01:00', verwerkteObjecten: [] };
const persoon = { objecttype: 'persoon', soortObjectId: 'BSN', objectId: '999990019' };
const full = {
  ...smallest,
  actieNaam: 'Zoeken',
  handelingNaam: null,
  verwerkingNaam: null,
  verwerkingId: null,
  verwerkingsactiviteitId: null,
  verwerkingsactiviteitUrl: null,
  bewaartermijn: null,
  uitvoerder: null,
  systeem: null,
  gebruiker: null,
  gegevensbron: null,
  soortAfnemerId: null,
  afnemerId: null,
  verwerkingsactiviteitIdAfnemer: null,
  verwerkingsactiviteitUrlAfnemer: null,
  verwerkingIdAfnemer: null,
};

describe('a verwerkingsactie to log', () => {
  it.each([
    ['with only what is required', {}],
    ['with capitals in vertrouwelijkheid', { vertrouwelijkheid: 'VertrouWelijk' }],
    ['with a person in capitals', { verwerkteObjecten: [{ ...persoon, objecttype: 'Persoon' }] }],
    ['with read-only members of any kind', { url: 7, actieId: 'x', tijdstipRegistratie: {} }],
    ['with read-only members in an object', { verwerkteObjecten: [{ ...persoon, url: null, verwerktObjectId: 1 }] }],
    ['with everything null that may be', { ...full }],
    ['with a duration in weeks', { bewaartermijn: 'P12W' }],
    ['with 242 characters of more than one byte', { actieNaam: '€'.repeat(242) }],
  ])('is accepted %s', (_what, members) => {
    expect(faultsOf(invoer, { ...smallest, ...members })).toEqual([]);
  });

  it.each([
    ['an unknown member', { extra: 1 }, '/extra'],
    ['an unknown member of an object', { verwerkteObjecten: [{ ...persoon, bsn: 1 }] }, '/verwerkteObjecten/0/bsn'],
    [
      'another objecttype',
      { verwerkteObjecten: [{ ...persoon, objecttype: 'zaak' }] },
      '/verwerkteObjecten/0/objecttype',
    ],
    ['an unknown vertrouwelijkheid', { vertrouwelijkheid: 'geheim' }, '/vertrouwelijkheid'],
    ['null for vertrouwelijkheid', { vertrouwelijkheid: null }, '/vertrouwelijkheid'],
    ['a time without an offset', { tijdstip: '2026-01-15T14:35:42' }, '/tijdstip'],
    ['a time with half an offset', { tijdstip: '2026-01-15T14:35:42+01' }, '/tijdstip'],
    ['a time in the year 0000', { tijdstip: '0000-01-15T14:35:42Z' }, '/tijdstip'],
    ['a leap second', { tijdstip: '2016-12-31T23:59:60Z' }, '/tijdstip'],
    ['a time with a space', { tijdstip: '2026-01-15 14:35:42Z' }, '/tijdstip'],
    ['an invalid duration', { bewaartermijn: '10 jaar' }, '/bewaartermijn'],
    ['a duration beyond any calendar', { bewaartermijn: 'P99999999Y' }, '/bewaartermijn'],
    ['a uuid with a prefix', { verwerkingId: 'urn:uuid:48086bf2-11b7-4603-9526-67d7c3bb6587' }, '/verwerkingId'],
    ['an OIN of nineteen digits', { uitvoerder: '1'.repeat(19) }, '/uitvoerder'],
    ['243 characters', { actieNaam: 'a'.repeat(243) }, '/actieNaam'],
    ['41 characters for gebruiker', { gebruiker: 'a'.repeat(41) }, '/gebruiker'],
    ['NUL in text', { actieNaam: 'a\u0000b' }, '/actieNaam'],
    ['a soortAfnemerId that is too long', { soortAfnemerId: 'K'.repeat(243) }, '/soortAfnemerId'],
    ['an invalid address', { verwerkingsactiviteitUrl: 'register' }, '/verwerkingsactiviteitUrl'],
  ])('is refused with %s', (_what, members, place) => {
    expect(faultsOf(invoer, { ...smallest, ...members })).toEqual([place]);
  });

  it('is refused without the required fields, and lists them all', () => {
    expect(faultsOf(invoer, {})).toEqual(['/tijdstip', '/vertrouwelijkheid', '/verwerkteObjecten']);
  });
});

describe('a verwerkingsactie to replace another', () => {
  it('is accepted with every field, null included', () => {
    expect(faultsOf(volledig, full)).toEqual([]);
  });

  it('is accepted with some fields only: which ones are missing depends on the replaced action', () => {
    expect(faultsOf(volledig, smallest)).toEqual([]);
    expect(faultsOf(volledig, {})).toEqual([]);
  });

  it('is refused with an unknown member', () => {
    expect(faultsOf(volledig, { ...full, extra: 1 })).toEqual(['/extra']);
  });
});

describe('a change of a whole verwerking', () => {
  it.each([{ bewaartermijn: 'P5Y' }, { vertrouwelijkheid: 'OPGEHEVEN' }])('is accepted: %j', (body) => {
    expect(faultsOf(wijziging, body)).toEqual([]);
  });

  it.each([
    [{}, ''],
    [{ actieNaam: 'x' }, '/actieNaam'],
    [{ bewaartermijn: null }, '/bewaartermijn'],
  ])('is refused: %j', (body, place) => {
    expect(faultsOf(wijziging, body)).toEqual([place]);
  });
});
