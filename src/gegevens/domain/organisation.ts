import { createHash } from 'node:crypto';
import { isJsonObject, valueAt } from './model/json-pointer.ts';
import type { Mapping } from './model/mapping.ts';

/** An organisation that data is delivered of, with the forms under which it is found. */
export interface Organisation {
  /** The same for every levering of the same organisation, whatever the spelling of its name. */
  readonly sleutel: string;
  readonly naam: string | undefined;
  readonly naamSleutel: string | undefined;
  readonly kvkNummer: string | undefined;
  readonly gemeentecode: string | undefined;
  readonly gemeenteSleutel: string | undefined;
}

/** The organisation of a levering, by what its number in the trade register, its municipality or else its name says. */
export function organisationOf(levering: unknown, { levering: places }: Mapping): Organisation {
  const { object, naam: naamPlace, kvkNummer: kvkPlace, gemeentecode: gemeentePlace } = places.organisatie;
  const read = (place: readonly string[] | undefined): string | undefined => {
    const value = place === undefined ? undefined : valueAt(levering, place);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  };
  const naam = read(naamPlace);
  const kvkNummer = read(kvkPlace)?.trim();
  const gemeentecode = read(gemeentePlace);
  const naamSleutel = naam === undefined ? undefined : nameKey(naam);
  const gemeenteSleutel = gemeentecode === undefined ? undefined : municipalityKey(gemeentecode);
  // Where the code stands beside the organisation, one organisation delivers for several municipalities, each on its own.
  const perGemeente = gemeentePlace !== undefined && !object.every((step, at) => gemeentePlace[at] === step);
  const who =
    kvkNummer !== undefined
      ? `kvk ${kvkNummer}`
      : naamSleutel !== undefined
        ? `naam ${naamSleutel}`
        : gemeenteSleutel !== undefined
          ? `gemeente ${gemeenteSleutel}`
          : `object ${objectKey(valueAt(levering, object))}`;
  const sleutel = perGemeente && gemeenteSleutel !== undefined ? `${who} voor ${gemeenteSleutel}` : who;
  return { sleutel, naam, naamSleutel, kvkNummer, gemeentecode, gemeenteSleutel };
}

/** Case and surrounding space do not matter; nor does how accents are composed. */
export function nameKey(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}

/** `GM0344`, `gm0344` and `0344` are one municipality. */
export function municipalityKey(code: string): string {
  return code.trim().replace(/^gm/i, '');
}

function objectKey(object: unknown): string {
  const text = JSON.stringify(isJsonObject(object) ? object : {});
  return createHash('sha256').update(text).digest('base64url');
}
