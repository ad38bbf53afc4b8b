import type { ChosenLevering, Levering, Selection } from './levering.ts';

/** A levering of an answer, with how many of its records are given. */
export interface CountedLevering extends ChosenLevering {
  readonly records: number;
}

/** What a page holds of one levering: its given records from `from` up to and not including `to`, counted from 0. */
export interface Slice {
  readonly levering: Levering;
  /** Absent: all of its records are given. */
  readonly selection: Selection | undefined;
  readonly from: number;
  readonly to: number;
  /** Whether the cases that go with these records are delivered too. */
  readonly zaken: boolean;
}

export interface Paginering {
  readonly pageSize: number;
  readonly currentPage: number;
  readonly totalPages: number;
  readonly totalRecords: number;
}

export interface PagePlan {
  readonly slices: readonly Slice[];
  /** Absent when everything goes in one answer that nobody asked to page. */
  readonly paginering: Paginering | undefined;
  readonly records: number;
  /** Whether a page was asked for that there is not: the first stands in for it. */
  readonly isPastEnd: boolean;
}

export interface PageAsked {
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** Most records in one answer. */
  readonly maximum: number;
}

/** Divides leveringen, in their order, over pages of records. A page past the end is the first. */
export function planPage(leveringen: readonly CountedLevering[], { page, pageSize, maximum }: PageAsked): PagePlan {
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

/** Leveringen with nothing of them: for an answer that has no records to give. */
export function emptySlices(leveringen: readonly Levering[]): Slice[] {
  return leveringen.map((levering) => ({ levering, selection: undefined, from: 0, to: 0, zaken: false }));
}

/** About how many bytes a page takes: of each levering as large a part as of its records. */
export function aboutBytes({ slices }: PagePlan): number {
  return slices.reduce((sum, { levering: { records, bytes }, from, to }) => {
    return sum + Math.ceil(records === 0 ? bytes : (bytes * (to - from)) / records);
  }, 0);
}

function slicesOf(leveringen: readonly CountedLevering[], page: number, size: number, totalPages: number): Slice[] {
  const start = (page - 1) * size;
  const end = start + size;
  const slices: Slice[] = [];
  let offset = 0;
  for (const { levering, selection, records } of leveringen) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, records);
    // A levering without records stands where the next record would be; behind the last one: on the last page.
    const emptyHere = records === 0 && offset >= start && (offset < end || page === totalPages);
    if (to > from || emptyHere) slices.push({ levering, selection, from, to: Math.max(to, from), zaken: true });
    offset += records;
  }
  return slices;
}
