import type { components } from '../../contracts/gegevens.ts';
import type { Period } from './levering.ts';
import type { Mapping, Variant } from './model/mapping.ts';
import { municipalityKey, nameKey } from './organisation.ts';

/** A request that its contract has checked. The organisation stands in it under the name or names that the model gives the member. */
export type GegevensRequest = components['schemas']['GegevensRequest'] & {
  readonly [organisatieLid: string]: string | number | undefined;
};

/** Which leveringen are asked for. */
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
  // No stored name holds U+0000, and the database takes it in no text; anything else that no name holds does as well.
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

/** The same text for requests that ask for the same, whatever page of it. */
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
