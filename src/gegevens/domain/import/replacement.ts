import type { ReadDelivery, ReadLevering } from './read-delivery.ts';

/** A levering that is current for the period of an import, of one of its organisations. */
export interface EarlierLevering {
  readonly id: number;
  readonly organisatieSleutel: string;
  readonly naam: string | null;
  readonly naamSleutel: string | null;
  readonly kvkNummer: string | null;
  readonly gemeenteSleutel: string | null;
  readonly records: number;
}

/** Why a replacement must be asked for. */
export type ReplaceReason =
  /** More than a tenth of the records would go. */
  | 'fewer-records'
  /** The organisation of the same number had another name. */
  | 'other-name'
  /** The organisation delivers for this period with a municipality and without one. */
  | 'municipality';

/** What an import does to what one organisation delivered for one municipality and period. */
export interface Replacement {
  readonly organisatie: string;
  readonly kvkNummer: string | null;
  /** `null`: for none in particular. */
  readonly gemeente: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly recordsBefore: number;
  readonly recordsAfter: number;
  /** Its name until now, where that differs. */
  readonly nameBefore: string | null;
  readonly reasons: readonly ReplaceReason[];
  /** Numbers of the leveringen that become earlier versions. */
  readonly replaces: readonly number[];
}

/** Compares an import with what is current: by organisation and municipality, where anything is replaced or conflicts. */
export function comparedWith(earlier: readonly EarlierLevering[], delivery: ReadDelivery): Replacement[] {
  const { periodeStart, periodeEinde } = delivery;
  const groups = Map.groupBy(delivery.leveringen, ({ organisatie: { sleutel, gemeenteSleutel } }) =>
    JSON.stringify([sleutel, gemeenteSleutel ?? null]),
  );
  return [...groups.values()].flatMap((leveringen) => {
    const [first] = leveringen;
    if (first === undefined) return [];
    const { sleutel, naam, naamSleutel, kvkNummer, gemeenteSleutel } = first.organisatie;
    const sameOrganisation = earlier.filter(({ organisatieSleutel }) => organisatieSleutel === sleutel);
    const same = sameOrganisation.filter((each) => each.gemeenteSleutel === (gemeenteSleutel ?? null));
    const conflicting = sameOrganisation.filter(
      (each) => (each.gemeenteSleutel === null) !== (gemeenteSleutel === undefined),
    );
    const conflictsWithin = delivery.leveringen.some(
      ({ organisatie }) =>
        organisatie.sleutel === sleutel &&
        (organisatie.gemeenteSleutel === undefined) !== (gemeenteSleutel === undefined),
    );
    const replaced = [...same, ...conflicting];
    if (replaced.length === 0 && !conflictsWithin) return [];
    const before = sum(replaced);
    const after = sum(leveringen);
    const renamed = replaced.find((each) => each.naamSleutel !== (naamSleutel ?? null));
    const reasons: ReplaceReason[] = [
      ...((before - after) * 10 > before ? (['fewer-records'] as const) : []),
      ...(renamed === undefined ? [] : (['other-name'] as const)),
      ...(conflicting.length > 0 || conflictsWithin ? (['municipality'] as const) : []),
    ];
    return {
      organisatie: naam ?? sleutel,
      kvkNummer: kvkNummer ?? null,
      gemeente: gemeenteSleutel ?? null,
      periodeStart,
      periodeEinde,
      recordsBefore: before,
      recordsAfter: after,
      nameBefore: renamed === undefined ? null : renamed.naam,
      reasons,
      replaces: replaced.map(({ id }) => id),
    };
  });
}

function sum(leveringen: readonly Pick<EarlierLevering | ReadLevering, 'records'>[]): number {
  return leveringen.reduce((total, { records }) => total + records, 0);
}
