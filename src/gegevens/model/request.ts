import { createHash } from 'node:crypto';
import type { components } from '../../contracts/gegevens.ts';
import { isRecord } from '../../kernel/json-value.ts';
import { valueAt } from './json-pointer.ts';
import type { Period } from './leveringen.ts';
import type { Mapping, Variant } from './mapping.ts';

/** A request that fits the contract. The member for the organisation has the name or names that the model defines. */
export type GegevensRequest = components['schemas']['GegevensRequest'] & {
  readonly [organisatieLid: string]: string | number | undefined;
};

/** Which leveringen a request is for. */
export interface Filter {
  readonly variant: Variant;
  /** Version of the model that is answered with: what was delivered in another one is no part of an answer. */
  readonly model: string;
  readonly periodeStart: string | undefined;
  readonly periodeEinde: string | undefined;
  /** The organisation asked for, in each of the forms that it may be named by; absent: all. */
  readonly organisatie: { readonly naam: string; readonly kvk: string; readonly gemeente: string } | undefined;
}

export function filterOf({ variant, versie, organisatieLeden }: Mapping, request: GegevensRequest): Filter {
  const named = organisatieLeden.map((lid) => request[lid]).find((value) => value !== undefined) ?? '';
  // Postgres accepts no U+0000 in a text, so no stored name contains it; U+FFFD stands in for it.
  const asked = String(named).trim().replaceAll('\u0000', '\ufffd');
  return {
    variant,
    model: versie,
    periodeStart: request.aanleverperiodeStartdatum,
    periodeEinde: request.aanleverperiodeEinddatum,
    organisatie:
      asked === '' ? undefined : { naam: nameKey(asked), kvk: asked, gemeente: municipalityKey(asked) ?? '' },
  };
}

/** Equal for requests that ask for the same, whatever the page. */
export function filterKey({ model, periodeStart, periodeEinde, organisatie }: Filter): string {
  return JSON.stringify([periodeStart ?? null, periodeEinde ?? null, organisatie?.naam ?? null, model]);
}

/**
 * The period that is answered: that of the dates asked for; a missing one is that of the most recent reporting period, or the other date
 * where that would put the start after the end.
 * @param recent of those asked for; absent when nothing is delivered
 */
export function periodOf({ periodeStart, periodeEinde }: Filter, recent: Period | undefined, moment: Date): Period {
  const today = moment.toISOString().slice(0, 10);
  const start = periodeStart ?? recent?.start ?? periodeEinde ?? today;
  const end = periodeEinde ?? recent?.end ?? periodeStart ?? today;
  if (start <= end) return { start, end };
  return periodeStart === undefined ? { start: end, end } : { start, end: start };
}

/** The organisation of a levering and the municipality it is for, with the keys by which they are found. */
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

/** Case and surrounding space do not matter; nor does how accents are composed. */
function nameKey(name: string): string {
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
