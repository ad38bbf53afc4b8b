import { organisations, period, testBsn } from './organisations.ts';

const PARTNERS = ['Energie', 'Huur', 'CAK Zorgverzekeringen', 'Water', 'Belastingdienst'] as const;
const SIGNALEN_PER_ORGANISATIE = 5;

/** A delivery of early-warning signals (exchange model VS 1.1) of three organisations, each with one case of two signals. */
export function vsDelivery(): object {
  return {
    startdatumLevering: period.start,
    einddatumLevering: period.end,
    aanleverdatumEnTijd: period.delivered,
    codeGegevensleverancier: 'VOORBEELD',
    leveringen: organisations.map(({ naam, kvk, gemeentecode }, index) => {
      const signalen = Array.from({ length: SIGNALEN_PER_ORGANISATIE }, (_, n) => signaal(gemeentecode, index, n));
      return {
        teller: index + 1,
        gemeentecode,
        aanleverende_organisatie: {
          naam,
          'kvk-nummer': kvk,
          contactpersoonen: [
            { naam: 'Afdeling Gegevens', functietitel: 'gegevensbeheer', email: 'gegevens@voorbeeld.example' },
          ],
        },
        vroegsignalen: signalen,
        vroegsignaalzaken: [
          {
            resultaat: '(Budget)advies en/of quick fix',
            startdatum_matchtingperiode: '2026-02-01',
            einddatum_matchingperiode: '2026-02-28',
            matchingsdatum: '2026-02-10',
            datum_opgepakt: '2026-02-12',
            vroegsignalen: signalen.slice(0, 2).map(({ ID }) => ({ ID })),
            contactpogingen: [
              { soort: 'Brief', datum: '2026-02-13', bereikt: false },
              { soort: 'Huisbezoek', datum: '2026-02-20', dagdeel: 'Avond', bereikt: true },
            ],
          },
        ],
      };
    }),
  };
}

function signaal(gemeentecode: string, index: number, n: number): { ID: string } & Record<string, unknown> {
  const day = String(n + 3).padStart(2, '0');
  return {
    ID: `VS-${gemeentecode}-${String(n + 1).padStart(4, '0')}`,
    crisissignaal: n === 0,
    warmeOverdracht: n % 2 === 0,
    bedrag: 180 + 45 * n,
    ontstaansdatum: `2026-01-${day}`,
    signaaldatum: `2026-02-${day}`,
    status: 'Nog niet opgepakt',
    signaalpartner: { type: PARTNERS[n % PARTNERS.length] },
    client: {
      Burgerservicenummer: testBsn(100 + index * SIGNALEN_PER_ORGANISATIE + n),
      Geslachtsaanduiding: n % 2 === 0 ? 'Vrouw' : 'Man',
      Geboortedatum: `198${n}-06-${day}`,
      Postcode: '9999AB',
      Huisnummer: String(n + 1),
    },
  };
}
