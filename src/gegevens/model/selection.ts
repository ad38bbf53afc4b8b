/** The selection of a request: its filter and period, the leveringen that answer it, and their division into pages. */
import type { components } from '../../contracts/gegevens.ts';
import type { ItemList, Mapping, Variant } from '../../lib/exchange-model/mapping.ts';
import { dayAfter } from '../../lib/time.ts';

/** A request that fits the contract. The member for the organisation has the name or names that the model defines. */
export type GegevensRequest = components['schemas']['GegevensRequest'] & {
  readonly [organisatieLid: string]: string | number | undefined;
};

export interface Filter {
  readonly variant: Variant;
  /** Version of the model to answer with: leveringen of another version are excluded. */
  readonly model: string;
  readonly periodeStart: string | undefined;
  readonly periodeEinde: string | undefined;
  /** The requested organisation, in each of its possible forms; absent: all. */
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

export function filterKey({ model, periodeStart, periodeEinde, organisatie }: Filter): string {
  return JSON.stringify([periodeStart ?? null, periodeEinde ?? null, organisatie?.naam ?? null, model]);
}

/** A missing date is that of the most recent reporting period, if there is one, or the other date if the start would be after the end. */
export function periodOf({ periodeStart, periodeEinde }: Filter, recent: Period | undefined, moment: Date): Period {
  const today = moment.toISOString().slice(0, 10);
  const start = periodeStart ?? recent?.start ?? periodeEinde ?? today;
  const end = periodeEinde ?? recent?.end ?? periodeStart ?? today;
  if (start <= end) return { start, end };
  return periodeStart === undefined ? { start: end, end } : { start, end: start };
}

/** Ignores case, surrounding space and the composition of accents. */
export function nameKey(name: string): string {
  return name.trim().normalize('NFC').toLowerCase();
}

/** `GM0344`, `gm0344` and `0344` are one municipality; `Onbekend` is not a municipality. */
export function municipalityKey(code: string): string | undefined {
  const key = code.trim().replace(/^gm/i, '').toLowerCase();
  return key === '' || key === 'onbekend' ? undefined : key;
}

export interface Levering {
  readonly id: number;
  readonly invoerId: number;
  /** Index in its file, from 0. */
  readonly nummer: number;
  readonly organisatieSleutel: string;
  readonly naam: string | null;
  /** `null`: for no municipality in particular. */
  readonly gemeenteSleutel: string | null;
  readonly periodeStart: string;
  readonly periodeEinde: string;
  readonly aangeleverdOp: Date;
  /** JSON text of the levering with empty lists. */
  readonly head: string;
  readonly records: number;
  readonly zaken: number;
  readonly bytes: number;
}

/** First and last day, as `YYYY-MM-DD`. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

export interface ChosenLevering {
  readonly levering: Levering;
  /** Of an organisation and municipality: the records that overlap the period, and are in no newer import of the group. Absent: all records. */
  readonly group: number | undefined;
}

export type Deliverer = Pick<Levering, 'organisatieSleutel' | 'naam' | 'gemeenteSleutel'>;

export interface Uncovered {
  readonly organisatie: string;
  readonly gemeente?: string;
  readonly van: string;
  readonly tot: string;
}

/**
 * Selects the leveringen that answer a period. Per organisation and municipality: all of the newest import of exactly this period; else, of the
 * newest that covers it, the records that overlap; else the overlapping records of every import, each once.
 * @param leveringen current leveringen that overlap the period, in the order of delivery; selecting from an earlier selection gives all of it
 */
export function chooseLeveringen(leveringen: readonly Levering[], period: Period): ChosenLevering[] {
  const chosen = new Map<Levering, ChosenLevering>();
  for (const [group, own] of [...Map.groupBy(leveringen, delivererKey).values()].entries()) {
    const exact = newestImport(
      own.filter(({ periodeStart, periodeEinde }) => periodeStart === period.start && periodeEinde === period.end),
    );
    const covering = newestImport(
      own.filter(({ periodeStart, periodeEinde }) => periodeStart <= period.start && periodeEinde >= period.end),
    );
    for (const levering of exact ?? covering ?? own) {
      chosen.set(levering, { levering, group: exact === undefined ? group : undefined });
    }
  }
  return leveringen.flatMap((levering) => chosen.get(levering) ?? []);
}

function newestImport(leveringen: readonly Levering[]): readonly Levering[] | undefined {
  if (leveringen.length === 0) return undefined;
  // Spread into a call, hundreds of thousands would overflow the stack.
  const last = leveringen.reduce((highest, { invoerId }) => Math.max(highest, invoerId), 0);
  return leveringen.filter(({ invoerId }) => invoerId === last);
}

export function latestDelivery(chosen: readonly ChosenLevering[]): Date | undefined {
  return chosen
    .map(({ levering }) => levering.aangeleverdOp)
    .reduce<Date | undefined>((last, each) => (last === undefined || each > last ? each : last), undefined);
}

/** By deliverer: the days of a period that none of the chosen leveringen covers. */
export function uncoveredDays(
  deliverers: readonly Deliverer[],
  chosen: readonly ChosenLevering[],
  period: Period,
): Uncovered[] {
  const covered = Map.groupBy(chosen, ({ levering }) => delivererKey(levering));
  return deliverers.flatMap((deliverer) => {
    const { organisatieSleutel, naam, gemeenteSleutel } = deliverer;
    const periods = (covered.get(delivererKey(deliverer)) ?? []).map(({ levering }) => levering);
    return gaps(periods, period).map(({ start, end }) => ({
      organisatie: naam ?? organisatieSleutel,
      ...(gemeenteSleutel === null ? {} : { gemeente: gemeenteSleutel }),
      van: start,
      tot: end,
    }));
  });
}

function gaps(leveringen: readonly Levering[], { start, end }: Period): Period[] {
  const found: Period[] = [];
  let next = start;
  for (const { periodeStart, periodeEinde } of leveringen.toSorted((a, b) => compare(a.periodeStart, b.periodeStart))) {
    if (periodeStart > next) found.push({ start: next, end: dayAfter(periodeStart, -1) });
    if (periodeEinde >= end) return found;
    if (periodeEinde >= next) next = dayAfter(periodeEinde, 1);
  }
  return [...found, { start: next, end }];
}

function delivererKey({ organisatieSleutel, gemeenteSleutel }: Omit<Deliverer, 'naam'>): string {
  return JSON.stringify([organisatieSleutel, gemeenteSleutel]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The part of a levering on one page: its delivered records from `from` up to and not including `to`, counted from 0. */
export interface Slice extends ChosenLevering {
  readonly from: number;
  readonly to: number;
}

export interface TextsPart {
  readonly slice: Slice;
  readonly list: ItemList;
}

export type AnswerPart = string | TextsPart;

export interface IndexedPart {
  readonly part: TextsPart;
  readonly index: number;
}

/** Neighbouring lists of selected records are read together, because which records of one are delivered depends on the others. */
export function groupLists(parts: readonly AnswerPart[]): IndexedPart[][] {
  const groups: IndexedPart[][] = [];
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string' || isEmpty(part)) continue;
    const last = groups.at(-1);
    if (part.slice.group !== undefined && last?.[0]?.part.slice.group !== undefined) last.push({ part, index });
    else groups.push([{ part, index }]);
  }
  return groups;
}

function isEmpty({ slice, list }: TextsPart): boolean {
  return list === 'records' ? slice.to === slice.from : slice.levering.zaken === 0;
}

export interface Paginering {
  readonly pageSize: number;
  readonly currentPage: number;
  readonly totalPages: number;
  readonly totalRecords: number;
}

export interface PagePlan {
  readonly slices: readonly Slice[];
  readonly paginering: Paginering | undefined;
  readonly records: number;
  readonly isPastEnd: boolean;
}

export interface PageQuery {
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  readonly maximum: number;
}

/** Divides leveringen, in order, into pages; one past the end is the first. @param counts of delivered records, of leveringen delivered in part */
export function planPage(
  chosen: readonly ChosenLevering[],
  counts: ReadonlyMap<number, number>,
  { page, pageSize, maximum }: PageQuery,
): PagePlan {
  const leveringen = chosen.map((each) => ({
    ...each,
    records: counts.get(each.levering.id) ?? each.levering.records,
  }));
  const totalRecords = leveringen.reduce((sum, { records }) => sum + records, 0);
  const size = pageSize ?? maximum;
  const totalPages = Math.max(1, Math.ceil(totalRecords / size));
  const isPastEnd = (page ?? 1) > totalPages;
  const current = isPastEnd ? 1 : (page ?? 1);
  const paged = page !== undefined || pageSize !== undefined || totalRecords > maximum;
  const slices = slicesOf(leveringen, current, size, totalPages);
  return {
    slices,
    paginering: paged ? { pageSize: size, currentPage: current, totalPages, totalRecords } : undefined,
    records: slices.reduce((sum, { from, to }) => sum + to - from, 0),
    isPastEnd,
  };
}

export function emptySlices(leveringen: readonly Levering[]): Slice[] {
  return leveringen.map((levering) => ({
    levering: { ...levering, records: 0, zaken: 0, bytes: 0 },
    group: undefined,
    from: 0,
    to: 0,
  }));
}

export function estimateBytes({ slices }: PagePlan): number {
  return slices.reduce((sum, { levering: { records, bytes }, from, to }) => {
    return sum + Math.ceil(records === 0 ? bytes : (bytes * (to - from)) / records);
  }, 0);
}

function slicesOf(
  leveringen: readonly (ChosenLevering & { readonly records: number })[],
  page: number,
  size: number,
  totalPages: number,
): Slice[] {
  const start = (page - 1) * size;
  const end = start + size;
  const slices: Slice[] = [];
  let offset = 0;
  for (const { levering, group, records } of leveringen) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, records);
    // A levering without records goes on the page of the next record; at the end, on the last page.
    const emptyHere = records === 0 && offset >= start && (offset < end || page === totalPages);
    if (to > from || emptyHere) slices.push({ levering, group, from, to: Math.max(to, from) });
    offset += records;
  }
  return slices;
}
