/** Generated deliveries of any size: one organisation per 25 000 records, of a realistic size. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Variant } from '../../src/lib/exchange-model/mapping.ts';

export interface SampleOptions {
  readonly variant: Variant;
  readonly records: number;
  /** Makes the very last record invalid. */
  readonly broken?: boolean;
}

const PER_LEVERING = 25_000;

/** Writes a message to a file and, when a second file is named, its records to that, one per line. */
export async function writeSample(
  path: string,
  { variant, records, broken = false }: SampleOptions,
  linesPath?: string,
) {
  const file = createWriteStream(path);
  const lines = linesPath === undefined ? undefined : createWriteStream(linesPath);
  const write = async (stream: typeof file | undefined, text: string): Promise<void> => {
    if (stream !== undefined && !stream.write(text)) await once(stream, 'drain');
  };
  await write(
    file,
    `{"startdatumLevering":"2026-01-01","einddatumLevering":"2026-03-31","aanleverdatumEnTijd":"2026-04-05T10:15:30Z",`,
  );
  await write(file, `"codeGegevensleverancier":"BENCH","leveringen":[`);
  for (let start = 0; start < records; start += PER_LEVERING) {
    const end = Math.min(start + PER_LEVERING, records);
    await write(file, start === 0 ? '' : ',');
    await write(file, head(variant, start / PER_LEVERING));
    for (let n = start; n < end; n += 1) {
      const value = variant === 'shv' ? traject(n) : signaal(n);
      const text = JSON.stringify(broken && n === records - 1 ? { ...value, onbekend: 1 } : value);
      await write(file, n === start ? text : `,${text}`);
      await write(lines, `${text}\n`);
    }
    if (variant === 'vs') {
      await write(file, '],"vroegsignaalzaken":[');
      for (let n = start; n < end; n += 2) await write(file, `${n === start ? '' : ','}${JSON.stringify(zaak(n))}`);
    }
    await write(file, ']}');
  }
  file.end(']}');
  lines?.end();
  await finished(file);
  if (lines !== undefined) await finished(lines);
}

const CONTACT = '{"email":"levering@voorbeeld.example"}';

function head(variant: Variant, n: number): string {
  const kvk = String(10_000_000 + n);
  return variant === 'shv'
    ? `{"teller":${n + 1},"aanleverende_organisatie":{"(Statutaire) Naam":"Organisatie ${n}","KvK-nummer":"${kvk}","contactpersonen":[${CONTACT}]},"schuldhulptrajecten":[`
    : `{"teller":${n + 1},"gemeentecode":"GM0001","aanleverende_organisatie":{"naam":"Organisatie ${n}","kvk-nummer":"${kvk}","contactpersoonen":[${CONTACT}]},"vroegsignalen":[`;
}

function traject(n: number): object {
  const day = `2026-0${(n % 3) + 1}-1${n % 10}`;
  return {
    startdatum: '2025-11-01',
    omschrijving: `Traject ${n}: schuldhulpverlening aan een inwoner met meerdere achterstanden`,
    toekenningsdatum: day,
    totaalSchuldbedragBijAanvangSchuld: 1000 + (n % 40_000),
    gemeentecode: 'GM0001',
    aanmelding: { crisisinterventie: n % 7 === 0, startdatum: '2025-11-01', einddatum: '2025-11-12' },
    begeleiding: [{ soort: 'Budgetbeheer', startdatum: day, einddatum: '2026-03-31' }],
    client: [
      {
        Burgerservicenummer: String(900_000_000 + (n % 99_999_999)),
        Geboortedatum: '1980-05-01',
        Geslachtsaanduiding: n % 2 === 0 ? 'Man' : 'Vrouw',
        Postcode: '1234AB',
        Huisnummer: String(n % 300),
      },
    ],
    intake: { startdatum: '2025-11-14', einddatum: '2025-11-28', beschikkingssoort: 'Toelatingsbeschikking' },
    planVanAanpak: { datumAfronding: '2025-12-15' },
    schulden: ['Zorg', 'Publiek', 'Nuts', 'Overig'].map((schuldsoort, i) => ({
      bedrag: 250 * (i + 1),
      peildatum: '2025-11-20',
      schuldsoort,
      zakelijkeSchuld: false,
      schuldeiser: { naam: `Schuldeiser ${i}`, kvknummer: '12345678', privepersoon: false },
    })),
    oplossing: { soort: 'Schuldbemiddeling', startdatum: '2026-01-05', vtlb: 1450 },
  };
}

function signaal(n: number): object {
  return {
    ID: `VS-2026-${n}`,
    crisissignaal: n % 9 === 0,
    warmeOverdracht: n % 2 === 0,
    bedrag: 100 + (n % 900),
    ontstaansdatum: '2025-12-15',
    signaaldatum: '2026-01-10',
    status: 'Nog niet opgepakt',
    signaalpartner: { type: 'Energie' },
    client: {
      Burgerservicenummer: String(900_000_000 + (n % 99_999_999)),
      Geslachtsaanduiding: n % 2 === 0 ? 'Vrouw' : 'Man',
      Geboortedatum: '1985-06-12',
      Postcode: '1234AB',
      Huisnummer: String(n % 300),
    },
  };
}

function zaak(n: number): object {
  return {
    resultaat: '(Budget)advies en/of quick fix',
    matchingsdatum: '2026-01-12',
    vroegsignalen: [{ ID: `VS-2026-${n}` }, { ID: `VS-2026-${n + 1}` }],
    contactpogingen: [{ soort: 'Telefoon', bereikt: false, datum: '2026-01-16', dagdeel: 'Middag' }],
  };
}
