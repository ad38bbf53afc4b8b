import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A message of one of the models, with what a test needs. */
export interface MessageWishes {
  readonly start?: string;
  readonly end?: string;
  readonly moment?: string;
  readonly leveringen: readonly LeveringWishes[];
}

export interface LeveringWishes {
  readonly naam: string;
  readonly kvk?: string;
  readonly gemeentecode?: string;
  /** Marks of the records, in order, or more about them; a number makes that many. */
  readonly records: number | readonly (string | RecordWishes)[];
  /** VS: marks of the signals of each case. */
  readonly zaken?: readonly (readonly string[])[];
}

export interface RecordWishes {
  readonly mark: string;
  /** First day, or the day of a signal. */
  readonly van?: string;
  readonly tot?: string;
  readonly bsn?: readonly string[];
  readonly gemeentecode?: string;
}

/** The address to which the office sends its report. */
const CONTACT = { email: 'levering@voorbeeld.example' };

export function shvMessage({ leveringen, ...wishes }: MessageWishes): Record<string, unknown> {
  return {
    ...envelope(wishes),
    leveringen: leveringen.map(({ naam, kvk, gemeentecode, records }, index) => ({
      teller: index + 7,
      aanleverende_organisatie: {
        '(Statutaire) Naam': naam,
        ...(kvk === undefined ? {} : { 'KvK-nummer': kvk }),
        ...(gemeentecode === undefined ? {} : { gemeentecode }),
        contactpersonen: [CONTACT],
      },
      schuldhulptrajecten: recordWishes(records).map(({ mark, van, tot, bsn, gemeentecode: of = 'GM0001' }) => ({
        gemeentecode: of,
        omschrijving: mark,
        ...(van === undefined ? {} : { startdatum: van }),
        ...(tot === undefined ? {} : { einddatum: tot }),
        ...(bsn === undefined ? {} : { client: bsn.map((Burgerservicenummer) => ({ Burgerservicenummer })) }),
      })),
    })),
  };
}

export function vsMessage({ leveringen, ...wishes }: MessageWishes): Record<string, unknown> {
  return {
    ...envelope(wishes),
    leveringen: leveringen.map(({ naam, kvk, gemeentecode = '0001', records, zaken }, index) => ({
      teller: index + 7,
      gemeentecode,
      aanleverende_organisatie: {
        naam,
        ...(kvk === undefined ? {} : { 'kvk-nummer': kvk }),
        contactpersoonen: [CONTACT],
      },
      vroegsignalen: recordWishes(records).map(({ mark, van }) => ({
        ID: mark,
        signaalpartner: { type: 'Water' },
        client: {},
        ...(van === undefined ? {} : { signaaldatum: van }),
      })),
      ...(zaken === undefined
        ? {}
        : {
            vroegsignaalzaken: zaken.map((signals, zaak) => ({
              resultaat: '(Budget)advies en/of quick fix',
              volgnummer: zaak,
              ...(signals.length === 0 ? {} : { vroegsignalen: signals.map((ID) => ({ ID })) }),
            })),
          }),
    })),
  };
}

/** Writes a message, or raw text, to its own file. */
export function messageFile(message: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'bericht-')), 'bericht.json');
  writeFileSync(path, typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  return path;
}

function envelope({ start = '2026-01-01', end = '2026-03-31', moment = '2026-04-05T10:15:30Z' }): object {
  return {
    startdatumLevering: start,
    einddatumLevering: end,
    aanleverdatumEnTijd: moment,
    codeGegevensleverancier: 'VOORBEELD-01',
  };
}

function recordWishes(records: LeveringWishes['records']): readonly RecordWishes[] {
  const all = typeof records === 'number' ? Array.from({ length: records }, (_, index) => `r${index + 1}`) : records;
  return all.map((one) => (typeof one === 'string' ? { mark: one } : one));
}
