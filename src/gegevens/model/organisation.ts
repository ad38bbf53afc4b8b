import { hash } from 'node:crypto';
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
  const { organisatie } = paths;
  const read = (path: readonly string[] | undefined): string | undefined => {
    const value = path === undefined ? undefined : valueAt(levering, path);
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  };
  const isKnown = (code: string | undefined): code is string =>
    code !== undefined && municipalityKey(code) !== undefined;
  const naam = read(organisatie.naam);
  const naamSleutel = naam && nameKey(naam);
  const kvkNummer = read(organisatie.kvkNummer)?.trim();
  const own = [read(organisatie.gemeentecode)].find(isKnown);
  const [only, ...others] = recordGemeenten;
  const gemeentecode = [read(paths.gemeentecode), own].find(isKnown) ?? (others.length === 0 ? only : undefined);
  const key =
    (kvkNummer && `kvk ${kvkNummer}`) ??
    (naamSleutel && `naam ${naamSleutel}`) ??
    (own && `gemeente ${municipalityKey(own)}`);
  const sleutel = key ?? `object ${objectKey(valueAt(levering, organisatie.object))}`;
  return {
    sleutel,
    naam,
    naamSleutel,
    kvkNummer,
    gemeentecode,
    gemeenteSleutel: gemeentecode && municipalityKey(gemeentecode),
  };
}

function objectKey(object: unknown): string {
  return hash('sha256', JSON.stringify(isRecord(object) ? object : {}), 'base64url');
}
