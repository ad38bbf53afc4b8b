import type { ReadDelivery, ReadLevering } from './delivery-reader.ts';

/** A current levering whose period overlaps that of an import, of one of its organisations or of one with the same name. */
export interface EarlierLevering {
  readonly id: number;
  readonly organisatieSleutel: string;
  readonly naam: string | null;
  readonly naamSleutel: string | null;
  readonly kvkNummer: string | null;
  readonly gemeenteSleutel: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly records: number;
  readonly zaken: number;
}

/** Why a replacement needs `--replace`. */
export type ReplaceReason =
  /** More than a tenth of the records would go, whatever comes in their place. */
  | 'fewer-records'
  /** More than a tenth of the cases would go. */
  | 'fewer-cases'
  /** The organisation with this KvK number had another name. */
  | 'other-name'
  /** The organisation delivers for the same days with a municipality and without one. */
  | 'municipality'
  /** An organisation of this name delivers for the same days with a KvK number and without one. */
  | 'kvk-number';

/** A current levering that conflicts with the import: the same records would be delivered twice. */
export interface Conflict {
  readonly id: number;
  readonly kvkNummer: string | null;
  readonly gemeente: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly records: number;
}

/** What becomes of the records, or cases, of a replacement. Those that cannot be recognised are interchangeable. */
export interface Change {
  readonly before: number;
  readonly after: number;
  readonly stay: number;
  readonly go: number;
  readonly come: number;
}

/** What an import replaces of one organisation, for one municipality and period. */
export interface Replacement {
  readonly organisatie: string;
  readonly kvkNummer: string | null;
  /** `null`: the levering names none. */
  readonly gemeente: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly records: Change;
  readonly zaken: Change;
  /** Its name until now, where that differs. */
  readonly nameBefore: string | null;
  readonly reasons: readonly ReplaceReason[];
  /** The replaced leveringen with another municipality, KvK number or period. */
  readonly conflicts: readonly Conflict[];
  /** Numbers of the leveringen that become earlier versions. */
  readonly replaces: readonly number[];
}

/** What an import would replace, before its records were compared. */
export interface Replaceable extends Omit<Replacement, 'records' | 'zaken'> {
  /** Places of the leveringen in the import. */
  readonly by: readonly number[];
}

/**
 * Compares an import with the current leveringen, by organisation and municipality: what it replaces and what conflicts.
 * @param earlier only those whose period overlaps that of the import
 */
export function comparedWith(earlier: readonly EarlierLevering[], delivery: ReadDelivery): Replaceable[] {
  const { periodeStart, periodeEinde } = delivery;
  const groups = Map.groupBy(delivery.leveringen, ({ organisatie: { sleutel, gemeenteSleutel } }) =>
    JSON.stringify([sleutel, gemeenteSleutel ?? null]),
  );
  const groupOf = ({ organisatieSleutel, gemeenteSleutel, ...each }: EarlierLevering): string | undefined => {
    const key = JSON.stringify([organisatieSleutel, gemeenteSleutel]);
    const isOfPeriod = each.periodeStart === periodeStart && each.periodeEinde === periodeEinde;
    return isOfPeriod && groups.has(key) ? key : undefined;
  };
  // What the import replaces anyway conflicts with nothing, as its own leveringen do not among each other. Nor does a levering without
  // records, whose municipality is not known: an organisation may have none there.
  const others = earlier.filter((each) => hasRecords(each) && groupOf(each) === undefined);
  return [...groups].flatMap(([key, leveringen]) => {
    const [first] = leveringen;
    if (first === undefined) return [];
    const { sleutel, naam, naamSleutel, kvkNummer, gemeenteSleutel } = first.organisatie;
    const me: Deliverer = {
      organisatieSleutel: sleutel,
      naamSleutel: naamSleutel ?? null,
      kvkNummer: kvkNummer ?? null,
      gemeenteSleutel: gemeenteSleutel ?? null,
    };
    const same = earlier.filter((each) => groupOf(each) === key);
    const conflicting = leveringen.some(hasRecords)
      ? others.filter((each) => conflictBetween(me, each) !== undefined)
      : [];
    const conflicts = new Set(conflicting.map((each) => conflictBetween(me, each)));
    const replaced = [...same, ...conflicting];
    if (replaced.length === 0) return [];
    const renamed = replaced.find((each) => each.naamSleutel !== (naamSleutel ?? null));
    const reasons: ReplaceReason[] = [
      ...(renamed === undefined ? [] : (['other-name'] as const)),
      ...(['municipality', 'kvk-number'] as const).filter((reason) => conflicts.has(reason)),
    ];
    return {
      organisatie: naam ?? sleutel,
      kvkNummer: kvkNummer ?? null,
      gemeente: gemeenteSleutel ?? null,
      periodeStart,
      periodeEinde,
      nameBefore: renamed === undefined ? null : renamed.naam,
      reasons,
      conflicts: conflicting.map((each) => ({
        id: each.id,
        kvkNummer: each.kvkNummer,
        gemeente: each.gemeenteSleutel,
        periodeStart: each.periodeStart,
        periodeEinde: each.periodeEinde,
        records: each.records,
      })),
      replaces: replaced.map(({ id }) => id),
      by: leveringen.map(({ nummer }) => nummer),
    };
  });
}

/** A replacement with what becomes of its records and cases. */
export function withChanges({ by: _by, ...replaceable }: Replaceable, records: Change, zaken: Change): Replacement {
  const reasons: ReplaceReason[] = [
    ...(records.go * 10 > records.before ? (['fewer-records'] as const) : []),
    ...(zaken.go * 10 > zaken.before ? (['fewer-cases'] as const) : []),
    ...replaceable.reasons,
  ];
  return { ...replaceable, records, zaken, reasons };
}

type Deliverer = Pick<EarlierLevering, 'organisatieSleutel' | 'naamSleutel' | 'kvkNummer' | 'gemeenteSleutel'>;

/**
 * Why two leveringen for the same days conflict: a request is answered by organisation and municipality, so the same records would be
 * delivered under each. Two municipalities that are both known do not conflict: their records differ.
 */
function conflictBetween(a: Deliverer, b: Deliverer): 'municipality' | 'kvk-number' | undefined {
  const oneHasNoMunicipality = (a.gemeenteSleutel === null) !== (b.gemeenteSleutel === null);
  if (a.organisatieSleutel === b.organisatieSleutel) return oneHasNoMunicipality ? 'municipality' : undefined;
  const oneHasNoNumber = (a.kvkNummer === null) !== (b.kvkNummer === null);
  if (!oneHasNoNumber || a.naamSleutel === null || a.naamSleutel !== b.naamSleutel) return undefined;
  return oneHasNoMunicipality || a.gemeenteSleutel === b.gemeenteSleutel ? 'kvk-number' : undefined;
}

function hasRecords({ records, zaken }: Pick<EarlierLevering | ReadLevering, 'records' | 'zaken'>): boolean {
  return records + zaken > 0;
}
