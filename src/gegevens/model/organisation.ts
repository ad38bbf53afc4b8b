import { createHash } from 'node:crypto';
import type { Mapping } from '../../lib/exchange-model/mapping.ts';
import { isRecord, valueAt } from '../../lib/json/json-value.ts';
import { municipalityKey, nameKey } from './selection.ts';

/** The organisation and municipality of a levering, with their lookup keys. */
export interface Organisation {
  /** The same for every levering of an organisation, however its name is spelled. */
  readonly sleutel: string;
  readonly naam: string | undefined;
  readonly naamSleutel: string | undefined;
  readonly kvkNummer: string | undefined;
  readonly gemeentecode: string | undefined;
  /** `undefined`: no municipality, or several. */
  readonly gemeenteSleutel: string | undefined;
}

/**
 * The deliverer of a levering: the organisation by its number in the trade register, its name or else its municipality; the municipality from the
 * levering, else the organisation, else its records when they name only one. @param recordGemeenten keys of those that they name
 */
export function organisationOf(
  levering: unknown,
  { levering: paths }: Pick<Mapping, 'levering'>,
  recordGemeenten: ReadonlySet<string>,
): Organisation {
  const { object, naam: naamPath, kvkNummer: kvkPath, gemeentecode: gemeentePath } = paths.organisatie;
  const read = (path: readonly string[] | undefined): string | undefined => {
    const value = path === undefined ? undefined : valueAt(levering, path);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  };
  const naam = read(naamPath);
  const kvkNummer = read(kvkPath)?.trim();
  const naamSleutel = naam === undefined ? undefined : nameKey(naam);
  const own = knownMunicipality(read(gemeentePath));
  const [only, ...others] = recordGemeenten;
  const gemeentecode = knownMunicipality(read(paths.gemeentecode)) ?? own ?? (others.length === 0 ? only : undefined);
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

function objectKey(object: unknown): string {
  const text = JSON.stringify(isRecord(object) ? object : {});
  return createHash('sha256').update(text).digest('base64url');
}
