/** A debt-assistance trajectory of a fictitious person, with all steps up to its stage. */
import type { JsonObject } from '../../json/json-value.ts';
import { dayAfter } from '../../time.ts';
import { addressOf, birthday, chance, daysIn, oneOf, type RecordPlace, testNumber } from './chance.ts';

const SEXES = ['Man', 'Vrouw', 'Onbekend'] as const;
const KINDS = ['Zorg', 'Publiek', 'Nuts', 'Overig'] as const;
const CREDITORS = [
  'Energie Proefland BV',
  'Woonstichting Proef',
  'Zorgverzekeraar Proef',
  'Waterbedrijf Proef',
] as const;
const SOLUTIONS = ['Betalingsregeling', 'Saneringskrediet', 'Schuldbemiddeling', '0%-aanbod'] as const;
const REASONS = ['Afgerond', 'Verhuisd', 'Ingetrokken', 'Zelf'] as const;
/** The day on which each step begins; the last is that of the outflow. */
const STEP_DAYS = [0, 5, 12, 25, 60, 75, 100] as const;
const LAST_STEP = STEP_DAYS.length - 1;

/** The first record of a levering has every step, so that every rule can be broken. */
export function shvRecord(at: RecordPlace, municipality: string): JsonObject {
  const next = chance(at, 'shv');
  const { period, place } = at;
  const step = place === 0 ? LAST_STEP : next(STEP_DAYS.length);
  const last = dayAfter(period.end, step === LAST_STEP ? -next(daysIn(period)) : -next(20));
  const day = (of: number, more = 0): string => dayAfter(last, (STEP_DAYS[of] ?? 0) - (STEP_DAYS[step] ?? 0) + more);
  const from = (of: number, made: () => JsonObject): JsonObject => (step >= of ? made() : {});
  const granted = day(3, 20);
  return {
    gemeentecode: municipality,
    startdatum: day(0),
    ...from(LAST_STEP, () => ({ einddatum: last })),
    ...from(4, () => ({ toekenningsdatum: granted })),
    totaalSchuldbedragBijAanvangSchuld: 1000 + next(60_000),
    aanmelding: { startdatum: day(0), crisisinterventie: next(9) === 0, ...from(1, () => ({ einddatum: day(0, 3) })) },
    ...from(1, () => ({
      intake: {
        startdatum: day(1),
        ...from(2, () => ({
          einddatum: day(1, 5),
          beschikkingsdatum: day(1, 5),
          beschikkingssoort: 'Toelatingsbeschikking',
        })),
      },
    })),
    ...from(2, () => ({ stabilisatie: { startdatum: day(2), ...from(3, () => ({ einddatum: day(2, 10) })) } })),
    ...from(3, () => ({
      schuldregeling: { datum: day(3), ...from(4, () => ({ toegekend: granted, dwangakkoord: next(4) === 0 })) },
    })),
    ...from(4, () => ({
      oplossing: {
        soort: oneOf(SOLUTIONS, next),
        startdatum: day(4),
        vtlb: 1200 + next(900),
        ...from(5, () => ({ einddatum: day(4, 10) })),
      },
    })),
    ...from(5, () => ({ nazorg: { startdatum: day(5), ...from(LAST_STEP, () => ({ einddatum: day(5, 20) })) } })),
    ...from(LAST_STEP, () => ({
      uitstroom: { datum: last, datumBeeindigingsbeschikking: last, reden: oneOf(REASONS, next) },
    })),
    schulden: Array.from({ length: 1 + next(3) }, (_, index) => debt(day(0), index, next)),
    client: clients(at),
  };
}

function debt(day: string, index: number, next: (below: number) => number): JsonObject {
  const naam = oneOf(CREDITORS, next);
  return {
    bedrag: 100 * (1 + index) + next(100),
    peildatum: day,
    schuldsoort: oneOf(KINDS, next),
    zakelijkeSchuld: false,
    schuldeiser: { naam, Naam: naam, privepersoon: false },
  };
}

/** Most have a number; the others, and partners, are identified by birthday and address. */
function clients(at: RecordPlace): readonly JsonObject[] {
  const next = chance(at, 'clients');
  const { postcode, huisnummer } = addressOf(at, next);
  const person = (): JsonObject => ({
    Geboortedatum: birthday(at, next),
    Geslachtsaanduiding: oneOf(SEXES, next),
    Postcode: postcode,
    Huisnummer: huisnummer,
  });
  const first = person();
  const number = at.place < 2 || next(5) > 0 ? { Burgerservicenummer: testNumber(at) } : {};
  const partner = { ...person(), Geboortedatum: dayAfter(String(first.Geboortedatum), -400) };
  return [{ ...number, ...first }, ...(at.place > 1 && next(7) === 0 ? [partner] : [])];
}
