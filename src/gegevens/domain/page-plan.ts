import type { Levering } from './levering.ts';

/** What a page holds of one levering: its records from `from` up to and not including `to`. */
export interface Slice {
  readonly levering: Levering;
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
}

export interface PageAsked {
  readonly page: number | undefined;
  readonly pageSize: number | undefined;
  /** Most records in one answer. */
  readonly maximum: number;
}

/** Divides leveringen, in their order, over pages of records. */
export function planPage(leveringen: readonly Levering[], { page, pageSize, maximum }: PageAsked): PagePlan {
  const totalRecords = leveringen.reduce((sum, { records }) => sum + records, 0);
  const size = pageSize ?? maximum;
  const current = page ?? 1;
  const totalPages = Math.max(1, Math.ceil(totalRecords / size));
  const paged = page !== undefined || pageSize !== undefined || totalRecords > maximum;
  const slices = current > totalPages ? emptySlices(leveringen) : slicesOf(leveringen, current, size, totalPages);
  return {
    slices,
    paginering: paged ? { pageSize: size, currentPage: current, totalPages, totalRecords } : undefined,
    records: slices.reduce((sum, { from, to }) => sum + to - from, 0),
  };
}

/** Each organisation once, with nothing of it: for an answer that has no records to give. */
export function emptySlices(leveringen: readonly Levering[]): Slice[] {
  const first = new Map<string, Levering>();
  for (const levering of leveringen) {
    if (!first.has(levering.organisatieSleutel)) first.set(levering.organisatieSleutel, levering);
  }
  return [...first.values()].map((levering) => ({ levering, from: 0, to: 0, zaken: false }));
}

/** About how many bytes a page takes: of each levering as large a part as of its records. */
export function aboutBytes({ slices }: PagePlan): number {
  return slices.reduce((sum, { levering: { records, bytes }, from, to }) => {
    return sum + Math.ceil(records === 0 ? bytes : (bytes * (to - from)) / records);
  }, 0);
}

function slicesOf(leveringen: readonly Levering[], page: number, size: number, totalPages: number): Slice[] {
  const start = (page - 1) * size;
  const end = start + size;
  const slices: Slice[] = [];
  let offset = 0;
  for (const levering of leveringen) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, levering.records);
    // A levering without records stands where the next record would be; behind the last one: on the last page.
    const emptyHere = levering.records === 0 && offset >= start && (offset < end || page === totalPages);
    if (to > from || emptyHere) slices.push({ levering, from, to: Math.max(to, from), zaken: true });
    offset += levering.records;
  }
  return slices;
}
