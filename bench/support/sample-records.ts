/** Lines for the feed, with about a kilobyte of data each and no two the same. */
export function sampleLine(n: number, round = 0): string {
  const data = {
    bronidentificatie: `document-${n}`,
    dossiertype: 'informatieobject',
    organisatie: { gemeente: `gm${String(9000 + (n % 20)).padStart(4, '0')}`, naam: 'Gemeente Voorbeeldstad' },
    gewijzigdop: '2026-01-15T14:35:42+01:00',
    webpaginalink: `https://raad.voorbeeldstad.example/document/${n}`,
    titel: `Raadsvoorstel ${n}: bestemmingsplan ${(n * 7919) % 10_007}`,
    wooinformatiecategorie: 'c_db4862c3',
    datumingediend: '2026-01-08',
    bestandsurl: `https://raad.voorbeeldstad.example/document/${n}/bestand`,
    formaat: 'application/pdf',
    omvang: 48_213 + n,
    omschrijving: `Ronde ${round}. De raad besluit het voorstel aan te nemen; het college voert het uit.`,
    agendapunten: [{ bronidentificatie: `agendapunt-${n % 977}` }, { bronidentificatie: `agendapunt-x${n % 991}` }],
    vergaderingen: [{ bronidentificatie: `vergadering-${n % 97}` }],
  };
  return JSON.stringify({ op: 'upsert', resourceType: 'Informatieobject', data });
}
