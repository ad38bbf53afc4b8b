/** An early-warning signal about a fictitious person, and a case for every three: two in it, and one that was not taken up. */
import type { JsonObject } from '../../json/json-value.ts';
import { dayAfter } from '../../time.ts';
import { addressOf, birthday, chance, daysIn, oneOf, type RecordPlace, testNumber } from './chance.ts';

const PARTNERS = ['Energie', 'Huur', 'Zorg', 'Water'] as const;
const RESULTS = [
  '(Budget)advies en/of quick fix',
  'Geen reactie na eerder contact',
  'Niet opgepakt: andere reden',
] as const;
const CONTACTS = ['Brief', 'Telefoon', 'Huisbezoek'] as const;
/** Days from the first signal to the end of its matching. */
const MATCHING_DAYS = 14;

export function vsNames(version: string) {
  const isNew = version === '1.2';
  const isLower = isNew || version === '1.1-draft';
  const person = (name: string): string => (isLower ? name.toLowerCase() : name);
  return {
    organisatie: isNew ? 'aanleverendeOrganisatie' : 'aanleverende_organisatie',
    contacten: isNew ? 'contactpersonen' : 'contactpersoonen',
    begin: isNew ? 'startdatumMatchingperiode' : 'startdatum_matchtingperiode',
    einde: isNew ? 'einddatumMatchingperiode' : 'einddatum_matchingperiode',
    opgepakt: isNew ? 'datumOpgepakt' : 'datum_opgepakt',
    bsn: person('Burgerservicenummer'),
    geslacht: person('Geslachtsaanduiding'),
    geboren: person('Geboortedatum'),
    postcode: person('Postcode'),
    huisnummer: person('Huisnummer'),
  };
}

export function vsRecord(at: RecordPlace): JsonObject {
  const next = chance(at, 'vs');
  const day = signalDay(at);
  return {
    ID: idOf(at),
    crisissignaal: next(20) === 0,
    warmeOverdracht: next(9) === 0,
    bedrag: 50 + next(2000),
    ontstaansdatum: dayAfter(day, -30 - next(60)),
    signaaldatum: day,
    ...(at.place % 3 === 2 ? { status: 'Nog niet opgepakt' } : {}),
    signaalpartner: { type: oneOf(PARTNERS, next) },
    client: clientOf(at),
  };
}

/** @param at of its first signal @param count of the signals in the levering */
export function vsZaak(at: RecordPlace, count: number): JsonObject {
  const names = vsNames(at.version);
  const next = chance(at, 'zaak');
  const day = signalDay(at);
  const [end = day] = [dayAfter(day, MATCHING_DAYS), at.period.end].toSorted();
  return {
    resultaat: oneOf(RESULTS, next),
    matchingsdatum: day,
    [names.begin]: day,
    [names.opgepakt]: end,
    [names.einde]: end,
    vroegsignalen: [at.place, at.place + 1]
      .filter((place) => place < count)
      .map((place) => ({ ID: idOf({ ...at, place }) })),
    contactpogingen: [{ soort: oneOf(CONTACTS, next), bereikt: next(2) === 0, datum: end, dagdeel: 'Middag' }],
  };
}

function idOf({ levering, place }: RecordPlace): string {
  return `PS-${levering + 1}-${place + 1}`;
}

/** For all three about a person. */
function signalDay(at: RecordPlace): string {
  const { period } = at;
  return dayAfter(period.start, chance(group(at), 'day')(daysIn(period)));
}

function clientOf(at: RecordPlace): JsonObject {
  const own = group(at);
  const next = chance(own, 'client');
  const names = vsNames(at.version);
  if (own.place === 0 || next(3) > 0) return { [names.bsn]: testNumber(own) };
  const { postcode, huisnummer } = addressOf(own, next);
  const sex = at.version === '1.0' ? {} : { [names.geslacht]: oneOf(['Man', 'Vrouw', 'Onbekend'], next) };
  return { ...sex, [names.geboren]: birthday(at, next), [names.postcode]: postcode, [names.huisnummer]: huisnummer };
}

/** The first of the three signals about one person. */
function group(at: RecordPlace): RecordPlace {
  return { ...at, place: at.place - (at.place % 3) };
}
