import { createHash } from 'node:crypto';
import { isRecord } from '../../kernel/json-value.ts';
import { valueAt } from './model/json-pointer.ts';
import type { Mapping } from './model/mapping.ts';

/** An organisation that data is delivered of and the municipality it is delivered for, with the forms under which they are found. */
export interface Organisation {
  /** The same for every levering of the same organisation, whatever the spelling of its name. */
  readonly sleutel: string;
  readonly naam: string | undefined;
  readonly naamSleutel: string | undefined;
  readonly kvkNummer: string | undefined;
  readonly gemeentecode: string | undefined;
  /** `undefined`: no municipality, or several. */
  readonly gemeenteSleutel: string | undefined;
}

/**
 * Who a levering is of, by its number in the trade register, its name or else its municipality; and for which municipality: what the
 * levering says, else the organisation, else its records when they name only one.
 * @param recordGemeenten keys of the municipalities that its records name
 */
export function organisationOf(
  levering: unknown,
  { levering: places }: Pick<Mapping, 'levering'>,
  recordGemeenten: ReadonlySet<string>,
): Organisation {
  const { object, naam: naamPlace, kvkNummer: kvkPlace, gemeentecode: gemeentePlace } = places.organisatie;
  const read = (place: readonly string[] | undefined): string | undefined => {
    const value = place === undefined ? undefined : valueAt(levering, place);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  };
  const naam = read(naamPlace);
  const kvkNummer = read(kvkPlace)?.trim();
  const naamSleutel = naam === undefined ? undefined : nameKey(naam);
  const own = knownMunicipality(read(gemeentePlace));
  const [only, ...others] = recordGemeenten;
  const gemeentecode = knownMunicipality(read(places.gemeentecode)) ?? own ?? (others.length === 0 ? only : undefined);
  const sleutel =
    kvkNummer !== undefined
      ? `kvk ${kvkNummer}`
      : naamSleutel !== undefined
        ? `naam ${naamSleutel}`
        : own !== undefined
          ? `gemeente ${municipalityKey(own)}`
          : `object ${objectKey(valueAt(levering, object))}`;
  const gemeenteSleutel = gemeentecode === undefined ? undefined : municipalityKey(gemeentecode);
  return { sleutel, naam, naamSleutel, kvkNummer, gemeentecode, gemeenteSleutel };
}

function knownMunicipality(code: string | undefined): string | undefined {
  return code === undefined || municipalityKey(code) === undefined ? undefined : code;
}

/** Case and surrounding space do not matter; nor does how accents are composed. */
export function nameKey(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}

/** `GM0344`, `gm0344` and `0344` are one municipality; `Onbekend` is none. */
export function municipalityKey(code: string): string | undefined {
  const key = code.trim().replace(/^gm/i, '').toLowerCase();
  return key === '' || key === 'onbekend' ? undefined : key;
}

function objectKey(object: unknown): string {
  const text = JSON.stringify(isRecord(object) ? object : {});
  return createHash('sha256').update(text).digest('base64url');
}
