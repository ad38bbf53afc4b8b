import { persons } from './deliveries.ts';

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

const ACTIES = ['Zoeken', 'Inzien', 'Wijzigen', 'Verstrekken'] as const;
const VERWERKINGEN = [
  { naam: 'Aanvraag bijzondere bijstand', bron: 'BRP', soorten: ['naam', 'adres', 'geboortedatum'] },
  { naam: 'Verlening parkeervergunning', bron: 'RDW', soorten: ['naam', 'kenteken'] },
  { naam: 'Schuldhulpverlening', bron: 'Schuldenregister', soorten: ['naam', 'schulden', 'inkomen'] },
  { naam: 'Verhuizing', bron: 'BRP', soorten: ['naam', 'adres'] },
  { naam: 'Onderzoek adresfraude', bron: 'BRP', soorten: ['naam', 'adres', 'medebewoners'] },
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
