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
