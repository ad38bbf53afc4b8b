/** The action that the benchmarks store: about 900 bytes on the wire, one person. */
export function sampleActie(objectId: string, n: number): string {
  return JSON.stringify({
    actieNaam: 'Zoeken persoon',
    handelingNaam: 'Intake',
    verwerkingNaam: 'Aanvraag schuldhulp',
    verwerkingId: `48086bf2-11b7-4603-9526-${n.toString(16).padStart(12, '0')}`,
    verwerkingsactiviteitId: '5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
    vertrouwelijkheid: 'normaal',
    bewaartermijn: 'P10Y',
    uitvoerder: '00000099000000001000',
    systeem: 'Balie 2',
    gebruiker: '1234',
    gegevensbron: 'Personenregister',
    tijdstip: '2026-01-15T14:35:42+01:00',
    verwerkteObjecten: [
      {
        objecttype: 'persoon',
        soortObjectId: 'BSN',
        objectId,
        betrokkenheid: 'Aanvrager',
        verwerkteSoortenGegevens: [{ soortGegeven: 'BSN' }, { soortGegeven: 'Naam' }],
      },
    ],
  });
}

/** Actions about many persons. */
export function sampleActies(count: number): string[] {
  return Array.from({ length: count }, (_, i) => sampleActie(String(100_000_000 + i * 7919), i));
}
