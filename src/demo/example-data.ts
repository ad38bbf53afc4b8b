/** The organisations of the example data. They do not exist: codes and numbers are outside what is given out. */
const organisations = [
  { naam: 'Gemeente Voorbeeldstad', kvk: '90000001', gemeentecode: '9901', postcode: '9999AA', isGemeente: true },
  { naam: 'Gemeente Waterrijk', kvk: '90000002', gemeentecode: '9902', postcode: '9998AA', isGemeente: true },
  { naam: 'Kredietbank De Brug', kvk: '90000003', gemeentecode: '9903', postcode: '9997AA', isGemeente: false },
] as const;

/** The reporting period of the example deliveries. */
export const period = { start: '2026-01-01', end: '2026-03-31', delivered: '2026-04-07T09:00:00Z' } as const;

/** Product and version, as the statistics office asks. */
export const leverancierscode = 'Voorbeeldpakket 1.0';

/** Citizen service numbers for tests: they pass the eleven test and belong to nobody. */
export const persons = { eerste: '999990019', tweede: '999991905' } as const;

/** Whom a visitor of the demo can log in as. */
export const signInPersons = [
  { bsn: persons.eerste, name: 'Mevrouw E. de Eerste' },
  { bsn: persons.tweede, name: 'De heer T. Tweede' },
] as const;

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
    codeGegevensleverancier: leverancierscode,
    leveringen: organisations.map(({ naam, kvk, gemeentecode, postcode, isGemeente }, index) => ({
      teller: index + 1,
      aanleverende_organisatie: {
        '(Statutaire) Naam': naam,
        // A municipality delivers under its code, another organisation under its number.
        ...(isGemeente ? { gemeentecode: `GM${gemeentecode}` } : { 'KvK-nummer': kvk }),
        postcode,
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
      einddatum: `2026-02-${day}`,
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
      schuldeiser: { naam: `Schuldeiser ${i + 1}`, Naam: `Schuldeiser ${i + 1}`, privepersoon: false },
    })),
    ...(isDone
      ? { uitstroom: { datum: `2026-03-${day}`, datumBeeindigingsbeschikking: `2026-03-${day}`, reden: 'Afgerond' } }
      : {}),
  };
}

const PARTNERS = ['Energie', 'Huur', 'CAK Zorgverzekeringen', 'Water', 'Belastingdienst'] as const;
const SIGNALEN_PER_ORGANISATIE = 5;
/** The first of each organisation: they are in its case. */
const OPGEPAKT = 2;

/** A delivery of early-warning signals (exchange model VS 1.1) of three organisations, each with one case of two signals. */
export function vsDelivery(): object {
  return {
    startdatumLevering: period.start,
    einddatumLevering: period.end,
    aanleverdatumEnTijd: period.delivered,
    codeGegevensleverancier: leverancierscode,
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
            vroegsignalen: signalen.slice(0, OPGEPAKT).map(({ ID }) => ({ ID })),
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
    // The model has no status for a signal that was taken up.
    ...(n < OPGEPAKT ? {} : { status: 'Nog niet opgepakt' }),
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

/** What an application sends to the processing log. */
export interface VoorbeeldActie {
  readonly actieNaam: string;
  readonly handelingNaam: string;
  readonly verwerkingNaam: string;
  readonly verwerkingId: string;
  readonly verwerkingsactiviteitId: string;
  readonly vertrouwelijkheid: 'normaal' | 'vertrouwelijk';
  readonly bewaartermijn: string;
  readonly uitvoerder: string;
  readonly systeem: string;
  readonly gebruiker: string;
  readonly gegevensbron: string;
  readonly tijdstip: string;
  readonly verwerkteObjecten: readonly object[];
}

/** What the register says of the activities of the examples; of the last one nobody may know. */
export function verwerkingsactiviteiten(): { readonly id: string; readonly body: object }[] {
  return VERWERKINGEN.map(({ naam, bron, soorten, doel, grondslag }, index) => ({
    id: exampleUuid(9, index + 1),
    body: {
      naam,
      doel,
      grondslag: 'Publieke taak',
      toelichtingGrondslag: grondslag,
      verantwoordelijkeOrganisatie: uitvoerder,
      bewaartermijn: 'P10Y',
      herkomst: bron,
      afnemendeCategorieOntvangers: ['medewerkers van de gemeente'],
      verwerktePersoonsgegevens: soorten.map((soort) => ({ naam: soort })),
      vertrouwelijkheid: index === VERWERKINGEN.length - 1 ? 'vertrouwelijk' : 'normaal',
    },
  }));
}

const ACTIES = ['Zoeken', 'Inzien', 'Wijzigen', 'Verstrekken'] as const;
const VERWERKINGEN = [
  {
    naam: 'Aanvraag bijzondere bijstand',
    bron: 'BRP',
    soorten: ['naam', 'adres', 'geboortedatum'],
    doel: 'Beslissen of iemand extra geld krijgt voor kosten die hij of zij niet kan betalen',
    grondslag: 'Participatiewet, artikel 35',
  },
  {
    naam: 'Verlening parkeervergunning',
    bron: 'RDW',
    soorten: ['naam', 'kenteken'],
    doel: 'Beslissen of iemand een parkeervergunning krijgt',
    grondslag: 'Parkeerverordening',
  },
  {
    naam: 'Schuldhulpverlening',
    bron: 'Schuldenregister',
    soorten: ['naam', 'schulden', 'inkomen'],
    doel: 'Mensen met schulden helpen',
    grondslag: 'Wet gemeentelijke schuldhulpverlening',
  },
  {
    naam: 'Verhuizing',
    bron: 'BRP',
    soorten: ['naam', 'adres'],
    doel: 'Opschrijven waar iemand woont',
    grondslag: 'Wet basisregistratie personen',
  },
  {
    naam: 'Onderzoek adresfraude',
    bron: 'BRP',
    soorten: ['naam', 'adres', 'medebewoners'],
    doel: 'Nagaan of iemand woont waar hij of zij staat ingeschreven',
    grondslag: 'Wet basisregistratie personen',
  },
] as const;

/** The OIN of the organisation that does the processing in the examples. */
export const uitvoerder = '00000099000000003000';

/** Forty actions of two persons: for each person five processings of four actions, the last processing confidential. */
export function verwerkingsacties(): VoorbeeldActie[] {
  return Object.values(persons).flatMap((bsn, person) =>
    VERWERKINGEN.flatMap((verwerking, index) =>
      ACTIES.map((actie, step) => ({
        actieNaam: `${actie} gegevens`,
        handelingNaam: `Behandelstap ${step + 1}`,
        verwerkingNaam: verwerking.naam,
        verwerkingId: exampleUuid(person + 1, index + 1),
        verwerkingsactiviteitId: exampleUuid(9, index + 1),
        vertrouwelijkheid: index === VERWERKINGEN.length - 1 ? 'vertrouwelijk' : 'normaal',
        bewaartermijn: 'P10Y',
        uitvoerder,
        systeem: 'Voorbeeldzaaksysteem',
        gebruiker: `medewerker-${person + 1}`,
        gegevensbron: verwerking.bron,
        tijdstip: new Date(Date.UTC(2026, 2 + index, 3 + step, 9 + person, 15)).toISOString(),
        verwerkteObjecten: [persoon(bsn, verwerking.soorten)],
      })),
    ),
  );
}

/** One person whose data were processed. */
export function persoon(bsn: string, soorten: readonly string[]): object {
  return {
    objecttype: 'persoon',
    soortObjectId: 'BSN',
    objectId: bsn,
    betrokkenheid: 'Betrokkene',
    verwerkteSoortenGegevens: soorten.map((soortGegeven) => ({ soortGegeven })),
  };
}

function exampleUuid(kind: number, n: number): string {
  return `0000000${kind}-0000-4000-8000-00000000000${n}`;
}

/** A line of the feed's publication form. */
export type Regel = { readonly op: 'upsert' | 'delete' | 'redact'; readonly resourceType: string } & Readonly<
  Record<string, unknown>
>;

interface Raad {
  readonly code: string;
  readonly organisatie: Readonly<Record<string, string>>;
  readonly gremium: string;
  readonly onderwerpen: readonly string[];
}

/** The two bodies of the example feed. */
export const raden = {
  stad: {
    code: 'gm9901',
    organisatie: { gemeente: 'gm9901', naam: 'Gemeente Voorbeeldstad' },
    gremium: 'Gemeenteraad',
    onderwerpen: ['Vaststelling agenda', 'Bestemmingsplan Havenkwartier', 'Motie fietsparkeren', 'Sluiting'],
  },
  polder: {
    code: 'ws9901',
    organisatie: { waterschap: 'ws9901', naam: 'Waterschap De Voorbeeldpolder' },
    gremium: 'Algemeen bestuur',
    onderwerpen: ['Opening', 'Peilbesluit Oosterpolder', 'Begroting', 'Rondvraag'],
  },
} as const satisfies Record<string, Raad>;

const VERGADERINGEN = ['2026-02-12', '2026-03-12'] as const;
const WOO_CATEGORIE = 'c_db4862c3';

/**
 * The example feed in the order in which it came about: meetings, agenda items and documents of two bodies; then an item that was
 * withdrawn, and a document that was found to hold personal data.
 */
export function raadsinformatie(): Regel[] {
  const regels = Object.values(raden).flatMap((raad) => VERGADERINGEN.flatMap((datum) => vergaderdag(raad, datum)));
  return [
    ...regels,
    {
      op: 'delete',
      resourceType: 'Agendapunt',
      resource: { organisatiecode: raden.stad.code, bronidentificatie: `agendapunt-${VERGADERINGEN[1]}-3` },
      verwijderreden: 'ingetrokken',
    },
    {
      op: 'redact',
      resourceType: 'Informatieobject',
      resource: { organisatiecode: raden.polder.code, bronidentificatie: `document-${VERGADERINGEN[0]}-2` },
      verwijderreden: 'persoonsgegevens',
    },
  ];
}

function vergaderdag(raad: Raad, datum: string): Regel[] {
  const punten = raad.onderwerpen.map((onderwerp, index) => ({ onderwerp, id: `agendapunt-${datum}-${index + 1}` }));
  return [
    upsert('Vergadering', vergadering(raad, datum)),
    ...punten.map(({ onderwerp, id }, index) =>
      upsert('Agendapunt', {
        bronidentificatie: id,
        dossiertype: 'agendapunt',
        organisatie: raad.organisatie,
        agendapuntnaam: onderwerp,
        volgnummer: String(index + 1),
        vergadering: { bronidentificatie: `vergadering-${datum}` },
        gewijzigdop: `${datum}T08:00:00Z`,
      }),
    ),
    ...[1, 2].map((n) => upsert('Informatieobject', document(raad, datum, n))),
  ];
}

/** A meeting, with a remark when there is one. */
export function vergadering(raad: Raad, datum: string = VERGADERINGEN[1], toelichting?: string): object {
  return {
    bronidentificatie: `vergadering-${datum}`,
    dossiertype: 'vergadering',
    organisatie: raad.organisatie,
    naam: `${raad.gremium} van ${datum}`,
    geplandedatum: datum,
    geplandeaanvang: `${datum}T19:30:00Z`,
    locatie: 'Voorbeeldzaal',
    georganiseerddoorgremium: { gremiumidentificatie: `${raad.code}-1`, gremiumnaam: raad.gremium },
    agendapunten: raad.onderwerpen.map((_, index) => ({ bronidentificatie: `agendapunt-${datum}-${index + 1}` })),
    gewijzigdop: `${datum}T08:00:00Z`,
    ...(toelichting === undefined ? {} : { vergadertoelichting: toelichting }),
  };
}

function document(raad: Raad, datum: string, n: number): object {
  return {
    bronidentificatie: `document-${datum}-${n}`,
    dossiertype: 'informatieobject',
    organisatie: raad.organisatie,
    titel: `Bijlage ${n} bij ${raad.gremium.toLowerCase()} van ${datum}`,
    webpaginalink: `https://${raad.code}.example/documenten/${datum}-${n}`,
    bestandsurl: `https://${raad.code}.example/documenten/${datum}-${n}.pdf`,
    formaat: 'application/pdf',
    omvang: 24_000 + n,
    wooinformatiecategorie: WOO_CATEGORIE,
    datumingediend: datum,
    agendapunten: [{ bronidentificatie: `agendapunt-${datum}-${n + 1}` }],
    gewijzigdop: `${datum}T08:00:00Z`,
  };
}

function upsert(resourceType: string, data: object): Regel {
  return { op: 'upsert', resourceType, data };
}
