import { organisations, period, testBsn } from './organisations.ts';

const SCHULDSOORTEN = ['Zorg', 'Publiek', 'Nuts', 'Overig'] as const;
const OPLOSSINGEN = ['Schuldbemiddeling', 'Saneringskrediet', 'Betalingsregeling'] as const;
const TRAJECTEN_PER_ORGANISATIE = 4;

/** A delivery of debt-assistance trajectories (exchange model SHV 1.0) of three organisations. */
export function shvDelivery(): object {
  return {
    startdatumLevering: period.start,
    einddatumLevering: period.end,
    aanleverdatumEnTijd: period.delivered,
    codeGegevensleverancier: 'VOORBEELD',
    leveringen: organisations.map(({ naam, kvk, gemeentecode, postcode }, index) => ({
      teller: index + 1,
      aanleverende_organisatie: {
        '(Statutaire) Naam': naam,
        'KvK-nummer': kvk,
        postcode,
        gemeentecode: `GM${gemeentecode}`,
        contactpersonen: [
          { naam: 'Afdeling Gegevens', functietitel: 'gegevensbeheer', email: 'gegevens@voorbeeld.example' },
        ],
      },
      schuldhulptrajecten: Array.from({ length: TRAJECTEN_PER_ORGANISATIE }, (_, n) =>
        traject(index * TRAJECTEN_PER_ORGANISATIE + n, `GM${gemeentecode}`),
      ),
    })),
  };
}

function traject(n: number, gemeentecode: string): object {
  const day = String((n % 27) + 1).padStart(2, '0');
  const isDone = n % 3 === 2;
  return {
    gemeentecode,
    startdatum: `2026-01-${day}`,
    ...(isDone ? { einddatum: `2026-03-${day}` } : {}),
    omschrijving: `Voorbeeldtraject ${n + 1}`,
    totaalSchuldbedragBijAanvangSchuld: 4_000 + 750 * n,
    client: [
      {
        Burgerservicenummer: testBsn(n),
        Geboortedatum: `19${60 + n}-05-${day}`,
        Geslachtsaanduiding: n % 2 === 0 ? 'Vrouw' : 'Man',
        Postcode: '9999AB',
        Huisnummer: String(n + 1),
      },
    ],
    aanmelding: { startdatum: `2026-01-${day}`, einddatum: `2026-01-${day}`, crisisinterventie: n % 5 === 0 },
    intake: {
      startdatum: `2026-01-${day}`,
      beschikkingsdatum: `2026-02-${day}`,
      beschikkingssoort: n % 7 === 6 ? 'Afwijzingsbeschikking' : 'Toelatingsbeschikking',
    },
    begeleiding: [{ soort: 'Budgetcoaching', startdatum: `2026-02-${day}` }],
    oplossing: { soort: OPLOSSINGEN[n % OPLOSSINGEN.length], startdatum: `2026-02-${day}` },
    schulden: SCHULDSOORTEN.slice(0, (n % SCHULDSOORTEN.length) + 1).map((schuldsoort, i) => ({
      schuldsoort,
      bedrag: 500 + 125 * n + 50 * i,
      peildatum: '2026-01-31',
      zakelijkeSchuld: false,
      schuldeiser: { naam: `Schuldeiser ${i + 1}`, privepersoon: false },
    })),
    ...(isDone ? { uitstroom: { datum: `2026-03-${day}`, reden: 'Afgerond' } } : {}),
  };
}
