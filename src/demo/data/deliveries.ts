/** The organisations of the example data. They do not exist: codes and numbers are outside what is given out. */
const organisations = [
  { naam: 'Gemeente Voorbeeldstad', kvk: '90000001', gemeentecode: '9901', postcode: '9999AA' },
  { naam: 'Gemeente Waterrijk', kvk: '90000002', gemeentecode: '9902', postcode: '9998AA' },
  { naam: 'Kredietbank De Brug', kvk: '90000003', gemeentecode: '9903', postcode: '9997AA' },
] as const;

/** The reporting period of the example deliveries. */
export const period = { start: '2026-01-01', end: '2026-03-31', delivered: '2026-04-07T09:00:00Z' } as const;

/** Citizen service numbers for tests: they pass the eleven test and belong to nobody. */
export const persons = { eerste: '999990019', tweede: '999991905' } as const;

/** The n-th test number of a client: nine digits that pass the eleven test. */
function testBsn(n: number): string {
  const digits = String(99999000 + n);
  const sum = [...digits].reduce((total, digit, index) => total + Number(digit) * (9 - index), 0);
  // A remainder of ten has no check digit: the next number has one.
  return sum % 11 === 10 ? testBsn(n + 500) : `${digits}${sum % 11}`;
}

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
